"""Nothing leaves the tab: no request beyond the page's origin, and none that could be made."""

from site_page import source_text


def test_no_request_goes_beyond_the_origin_or_carries_the_file(second_opinion, address):
    """All requests of the shared browser are looked at, those of earlier tests too."""
    neat = second_opinion
    assert neat.choose("net.json", source_text("nts-net-dag-24")) == "done"
    neat.download("onnx")
    neat["second-verdict"].wait_for(timeout=60_000)
    ours = (f"{address}/", f"blob:{address}/", "data:")
    assert [url for url, _, _ in neat.requests if not url.startswith(ours)] == []
    assert {(method, body) for _, method, body in neat.requests} == {("GET", None)}
    assert f"{address}/packages/finder.py.gz" in {url.split("?")[0] for url, _, _ in neat.requests}


def test_the_policy_holds_in_the_page_and_in_its_workers(neat):
    refused = """() => new Promise((resolve) => {
        self.addEventListener("securitypolicyviolation",
            (event) => resolve(event.effectiveDirective), {once: true});
        fetch("https://example.invalid/").then(() => resolve("sent"), () => {});
    })"""
    # In the page, such events are of the document.
    assert neat.page.evaluate(refused.replace("self.", "document.")) == "connect-src"
    for worker in neat.page.workers:
        assert worker.evaluate(refused) == "connect-src"
    assert all("Content Security Policy" in text or "Fetch API" in text for text in neat.complaints)
    neat.complaints.clear()
