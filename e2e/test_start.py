"""How much the page fetches at its start, and what comes only when it is needed."""

import gzip
import json

from site_page import DIST, ROOT, source_text


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
