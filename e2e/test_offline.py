"""A first visit is short; after it the page needs no network, and builds never mix."""

import json
import re
import shutil
import time
from pathlib import Path

import pytest
from playwright.sync_api import Error
from site_page import DIST, GENOME, SAMPLES, NeatPage, case, served, source_text

import neat_onnx

LARGE = ("packages", "pyodide", "runtime", "samples", "wheels")


@pytest.fixture
def site(tmp_path):
    """A copy of the site that a test may change, without Python: its documentation needs none."""
    site = tmp_path / "site"
    shutil.copytree(DIST, site, ignore=lambda folder, _: LARGE if folder == str(DIST) else ())
    built(site)
    return site


def built(site: Path) -> str:
    """Write the service worker for the files that are there now; gives the build's version."""
    from pack import beside

    page = site / "index.html"
    page.write_text(re.sub(r' data-version="\w+"', "", page.read_text()))
    (site / "sw.js").unlink()
    beside.service_worker(site, DIST.parent / "sw.js")
    return re.search(r'data-version="(\w+)"', page.read_text())[1]


SHIFTS = """globalThis.shifted = [];
new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
        const parts = sources.map(({ node }) => node?.id || node?.className);
        if (!hadRecentInput) shifted.push([value, parts]);
    }
}).observe({ type: "layout-shift", buffered: true });"""


def assert_steady(neat: NeatPage) -> None:
    """Nothing has moved since the page began to load; Firefox does not tell of that."""
    if neat.browser == "chromium":
        shifts = neat.page.evaluate("shifted")
        assert sum(value for value, _ in shifts) < 0.1, sorted(shifts)[-6:]


def test_a_first_visit_is_short_and_after_it_all_works_without_a_network(new_context, address):
    """In both the page stands still, from its beginning to the second runtime's verdict."""
    context = new_context(service_workers="allow", viewport={"width": 1440, "height": 900})
    context.add_init_script(SHIFTS)
    first = NeatPage(context.new_page(), address)
    first.wait_ready()
    asked = [url for url, _, _ in first.requests if url.startswith(address)]
    assert len(asked) <= 30
    assert first.choose("net.json", source_text("nts-net-dag-24")) == "done"
    first["runtime-verdict"].wait_for(state="attached")
    assert_steady(first)
    first["offline"].wait_for(state="attached", timeout=90_000)
    first.page.locator("#offline:not([hidden])").wait_for(state="attached")
    context.set_offline(True)
    first.page.set_viewport_size({"width": 390, "height": 844})
    neat = NeatPage(first.page, address)
    neat.wait_ready()
    assert neat.after(neat.reveal("sample-neataptic").click) == "done"
    assert neat.text("verdict") == "passed"
    net = neat_onnx.load_network(case(SAMPLES["neataptic"])["source"])
    assert neat.download("onnx")[1] == neat_onnx.export(net).to_bytes()
    neat["runtime-verdict"].wait_for(state="attached", timeout=90_000)
    assert_steady(neat)
    assert neat.choose("genome.xml", GENOME) == "done"  # imports what is fetched only then
    neat.page.get_by_role("link", name="Documentation").click()
    neat.page.get_by_role("heading", level=1, name="neat_onnx").wait_for()
    neat.page.goto(f"{address}/docs/operators.html")
    assert neat.page.locator("tbody tr").count() > 40


KEEP = """async () => {
    await navigator.serviceWorker.register("../sw.js");
    const { active } = await navigator.serviceWorker.ready;
    const version = /data-version="(.*?)"/.exec(await (await fetch("../index.html")).text())[1];
    const controlled = new Promise((go) => (navigator.serviceWorker.oncontrollerchange = go));
    active.postMessage({ version });
    await controlled;
}"""
UPDATE = """async () => {
    const registration = await navigator.serviceWorker.ready;
    await registration.update();
    while (!registration.waiting) await new Promise((go) => setTimeout(go, 50));
}"""


def test_a_newer_build_comes_with_the_next_load_and_whole(new_context, site):
    with served(site) as address:
        context = new_context(service_workers="allow")
        page, other = context.new_page(), context.new_page()
        for each in (page, other):  # of the documentation, where no Python has to start
            each.goto(f"{address}/docs/index.html")
        page.evaluate(KEEP)
        older = shown(page)
        newer = rebuild(site)
        page.evaluate(UPDATE)
        for _ in range(2):  # another tab still has the old build
            page.reload()
            assert shown(page) == older
        other.close()
        page.goto(f"{address}/docs/index.html#where-to-go-next")
        page.reload(wait_until="commit")  # the page then loads itself again
        assert shown_at_last(page, older) == newer
        assert page.url.endswith("#where-to-go-next")


def shown(page) -> tuple[str, bool]:
    """The build of the page that is served, and whether another file of it is the new one."""
    page.wait_for_selector("h1")
    texts = """Promise.all(["../index.html", "../schema/options.schema.json"]
        .map(async (name) => (await fetch(name)).text()))"""
    html, schema = page.evaluate(texts)
    return re.search(r'data-version="(\w+)"', html)[1], "brand-new" in schema


def shown_at_last(page, before: tuple[str, bool]) -> tuple[str, bool]:
    """What is shown once it is not what was before; a page that is being loaded is asked again."""
    found, deadline = before, time.monotonic() + 60
    while found == before and time.monotonic() < deadline:
        try:
            found = shown(page)
        except Error:  # the page went while it was asked
            page.wait_for_timeout(100)
    return found


def rebuild(site) -> tuple[str, bool]:
    """Put a build with another page and another schema in the place of the site's."""
    schema = site / "schema" / "options.schema.json"
    schema.write_text(json.dumps(json.loads(schema.read_text()) | {"$comment": "brand-new"}))
    return built(site), True


def test_it_can_be_installed(neat, address):
    href = neat.page.get_attribute("link[rel=manifest]", "href")
    manifest = neat.page.request.get(f"{address}/{href}").json()
    assert manifest["start_url"] == manifest["scope"] == "./"
    for icon in manifest["icons"]:
        data = neat.page.request.get(f"{address}/{icon['src']}").body()
        if icon["type"] == "image/png":
            assert data.startswith(b"\x89PNG")
            size = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
            assert "{}x{}".format(*size) == icon["sizes"]
