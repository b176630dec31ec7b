"""Nothing leaves the tab: no request beyond the page's origin, and none that could be made."""

import pytest
from site_page import NeatPage, source_text


@pytest.fixture(scope="module")
def watched(new_context, address):
    """A page, and all requests of its browser: (address, method, body)."""
    context = new_context()
    asked = []
    context.on(
        "request", lambda request: asked.append((request.url, request.method, request.post_data))
    )
    neat = NeatPage(context.new_page(), address)
    neat.wait_ready()
    yield neat, asked
    context.close()


def test_no_request_goes_beyond_the_origin_or_carries_the_file(watched, address):
    neat, asked = watched
    assert neat.choose("net.json", source_text("nts-net-dag-24")) == "done"
    neat.download("onnx")
    neat["second-verdict"].wait_for(timeout=60_000)
    ours = (f"{address}/", f"blob:{address}/", "data:")
    assert [url for url, _, _ in asked if not url.startswith(ours)] == []
    assert {(method, body) for _, method, body in asked} == {("GET", None)}
    assert neat.complaints == []


def test_the_policy_holds_in_the_page_and_in_its_workers(watched):
    neat, _ = watched
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
