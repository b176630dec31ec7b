"""Nothing leaves the tab: no request beyond the page's origin, and none that could be made."""

from site_page import NeatPage, source_text


def test_no_request_goes_beyond_the_origin(context, address):
    neat = NeatPage(context.new_page(), address)
    neat.wait_ready()
    neat.choose("net.json", source_text("nts-net-dag-24"))
    neat.download("onnx")
    ours = (f"{address}/", f"blob:{address}/", "data:")
    assert [url for url in neat.requests if not url.startswith(ours)] == []
    assert neat.complaints == []
    neat.page.close()


def test_the_file_itself_is_in_no_request(browser, address):
    context = browser.new_context()
    bodies = []
    context.on("request", lambda request: bodies.append((request.method, request.post_data)))
    neat = NeatPage(context.new_page(), address)
    neat.wait_ready()
    neat.choose("net.json", source_text("np-ff-19"))
    assert set(bodies) == {("GET", None)}
    context.close()


def test_the_policy_holds_in_the_page_and_in_its_worker(neat):
    blocked = """async () => {
        try { await fetch("https://example.invalid/"); return "sent"; }
        catch (error) { return error.name; }
    }"""
    seen = neat.page.evaluate(
        """() => new Promise((resolve) => {
            document.addEventListener("securitypolicyviolation",
                (event) => resolve(event.effectiveDirective), {once: true});
            fetch("https://example.invalid/").catch(() => {});
        })"""
    )
    assert seen == "connect-src"
    (worker,) = neat.page.workers
    assert worker.evaluate(blocked) == "TypeError"
    violation = """() => new Promise((resolve) => {
        self.addEventListener("securitypolicyviolation",
            (event) => resolve(event.effectiveDirective), {once: true});
        fetch("https://example.invalid/").catch(() => {});
    })"""
    assert worker.evaluate(violation) == "connect-src"
    assert all("Content Security Policy" in text or "Fetch API" in text for text in neat.complaints)
    neat.complaints.clear()
