"""How much the page fetches at its start, and what comes only when it is needed."""

import gzip
import json

import pytest
from site_page import DIST, ROOT, NeatPage, source_text


def sent(*patterns: str) -> float:
    """Megabytes of files of the site as a static host sends them: gzipped, if they are not yet."""
    files = {path: path.read_bytes() for pattern in patterns for path in DIST.glob(pattern)}
    packed = (data if path.suffix == ".gz" else gzip.compress(data) for path, data in files.items())
    return sum(map(len, packed)) / 1e6


def test_little_is_downloaded():
    lock = json.loads((DIST / "pyodide" / "pyodide-lock.json").read_text())
    first = [each["file"] for each in lock["files"] if each["first"]]
    later = [each["file"] for each in lock["files"] if not each["first"]]
    engine = [*(each["file"] for each in lock["engine"]), "pyodide/*.mjs", "pyodide/*.json"]
    page = ["index.html", "style.css", "icon.svg", "*.webmanifest", "*.json", "*.js", "*/*.js"]
    until_ready = sent(*engine, *page, *first)
    in_all = until_ready + sent(*later)
    print(f"until ready {until_ready:.2f} MB, in all {in_all:.2f} MB")
    assert until_ready <= 7.0
    assert in_all <= 10.0


def test_what_is_seldom_needed_comes_when_it_is(neat):
    seldom = [url for url, _, _ in neat.requests if ".seldom." in url]
    assert neat.choose("net.json", source_text("nts-net-lstm-2")) == "done"
    for kind in ("onnx", "json", "network"):
        neat.download(kind)
    assert [url for url, _, _ in neat.requests if ".seldom." in url] == seldom
    neat.saved("download-form-c")  # which few want
    assert any("neat_onnx.seldom" in url for url, _, _ in neat.requests)


def test_the_schemas_are_served(neat, address):
    for path in (ROOT / "schema").iterdir():
        assert neat.page.request.get(f"{address}/schema/{path.name}").body() == path.read_bytes()


SHIFTS = """globalThis.shifted = [];
new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
        const parts = sources.map(({ node }) => node?.id || node?.className);
        if (!hadRecentInput) shifted.push([value, parts]);
    }
}).observe({ type: "layout-shift", buffered: true });"""


@pytest.mark.chromium("Firefox does not tell of shifts")
@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
def test_a_first_visit_is_short_and_nothing_moves(new_context, address, size):
    """Until it is ready, and from a file to its verdict and the second runtime's."""
    page = new_context(viewport=dict(zip(("width", "height"), size, strict=True))).new_page()
    page.add_init_script(SHIFTS)
    neat = NeatPage(page, address)
    neat.wait_ready()
    asked = [url for url, _, _ in neat.requests if url.startswith(address)]
    assert len(asked) <= 30
    assert neat.choose("net.json", source_text("nts-net-dag-24")) == "done"
    neat["runtime-verdict"].wait_for(state="attached")
    shifts = page.evaluate("shifted")
    print(f"{len(asked)} requests, shifts {sum(value for value, _ in shifts):.4f}")
    assert sum(value for value, _ in shifts) < 0.1, sorted(shifts)[-6:]
