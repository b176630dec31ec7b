"""Nothing leaves the tab: no request beyond the page's origin, and none that could be made."""

import os
import shutil

import pytest
from site_page import DIST, ROOT, served, source_text


def test_no_request_goes_beyond_the_origin_or_carries_the_file(runtime_check, address):
    """All requests of the shared browser are looked at, those of earlier tests too."""
    neat = runtime_check
    assert neat.choose("net.json", source_text("nts-net-dag-24")) == "done"
    neat.download("onnx")
    neat["runtime-verdict"].wait_for(state="attached", timeout=60_000)
    ours = (f"{address}/", f"blob:{address}/", "data:")
    assert [url for url, _, _ in neat.requests if not url.startswith(ours)] == []
    assert {(method, body) for _, method, body in neat.requests} == {("GET", None)}
    assert f"{address}/packages/finder.py.gz" in {url.split("?")[0] for url, _, _ in neat.requests}


REFUSED = """() => new Promise((resolve) => {
    const listen = (event) => resolve(event.effectiveDirective);
    (globalThis.document ?? self).addEventListener("securitypolicyviolation", listen, {once: true});
    fetch("https://example.invalid/").then(() => resolve("sent"), () => {});
})"""
ASK_A_WORKER = """async () => {
    const { workerOf } = await import("./spawn.js");
    const worker = workerOf("probe.js");
    return new Promise((resolve) => { worker.onmessage = ({ data }) => resolve(data); });
}"""


def test_the_policy_holds_in_the_page(neat):
    assert neat.page.evaluate(REFUSED) == "connect-src"
    forget_violations(neat)


@pytest.mark.chromium("no command runs a script in a worker")
def test_the_policy_holds_in_the_workers_that_run(neat):
    assert neat.page.workers
    for worker in neat.page.workers:
        assert worker.evaluate(REFUSED) == "connect-src"
    forget_violations(neat)


def test_a_worker_is_made_so_that_the_policy_holds_in_it(new_context, tmp_path):
    site = tmp_path / "site"
    shutil.copytree(DIST, site, copy_function=os.link)
    shutil.copyfile(ROOT / "web" / "spawn.js", site / "spawn.js")
    (site / "probe.js").write_text(f"postMessage(await ({REFUSED})());")
    with served(site) as address:
        page = new_context().new_page()
        page.route("**/app.js", lambda route: route.abort())
        page.goto(f"{address}/")
        assert page.evaluate(ASK_A_WORKER) == "connect-src"


def forget_violations(neat):
    """Take the refused requests from the complaints, and nothing else."""
    neat.page.wait_for_timeout(100)
    told = ("Content Security Policy", "Fetch API", "(connect-src)")
    assert all(any(words in text for words in told) for text in neat.complaints)
    neat.complaints.clear()
