"""How the page starts: what it fetches, what it keeps, and what it says meanwhile."""

import gzip
import json
import os
import shutil

from site_page import DIST, GENOME, NeatPage, served, source_text

PACKAGES = """performance.getEntriesByType("resource")
  .filter(({ name }) => name.includes("/packages/"))
  .map(({ name, transferSize }) => [name, transferSize])"""
WATCH = """
window.shown = [];
document.addEventListener("DOMContentLoaded", () => {
  const look = () => {
    const bar = document.querySelector("progress");
    const stage = document.querySelector("#progress span")?.textContent;
    if (bar && document.body.dataset.state === "loading") shown.push([stage, bar.value]);
    requestAnimationFrame(look);
  };
  look();
});"""


def test_progress_only_grows_and_a_second_visit_does_not_ask_for_packages_again(
    new_context, address
):
    context = new_context()
    sizes, shown = [], []
    for _ in range(2):
        page = context.new_page()
        page.add_init_script(WATCH)
        neat = NeatPage(page, address)
        neat.wait_ready()
        sizes.append(dict(page.evaluate(PACKAGES)))
        shown.append(page.evaluate("shown"))
        assert neat.complaints == []
    assert_growing(shown[0])
    first, second = sizes
    assert set(second) >= {name for name in first if "numpy" in name}
    assert all(size > 0 for size in first.values())
    assert set(second.values()) == {0}


def test_a_package_that_is_missing_is_named_and_can_be_tried_again(new_context, tmp_path):
    site = tmp_path / "site"
    shutil.copytree(DIST, site, copy_function=os.link)
    (package,) = (site / "packages").glob("pydantic.modules*")
    package.rename(tmp_path / "aside")
    context = new_context()
    with served(site) as address:
        neat = NeatPage(context.new_page(), address)
        neat.page.wait_for_selector("body[data-state=failed]")
        assert "Could not load packages/pydantic.modules.gz" in neat.text("error")
        (tmp_path / "aside").rename(package)
        neat.page.get_by_role("button", name="Try again").click()
        neat.wait_ready()
        assert not neat["error"].is_visible()


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
    assert until_ready <= 7.3
    assert in_all <= 10.0


def test_what_is_seldom_needed_comes_when_it_is(neat):
    seldom = [url for url, _, _ in neat.requests if ".seldom." in url]
    assert neat.choose("net.json", source_text("nts-net-lstm-2")) == "done"
    for kind in ("onnx", "json", "network"):
        neat.download(kind)
    assert [url for url, _, _ in neat.requests if ".seldom." in url] == seldom
    assert neat.choose("genome.xml", GENOME) == "done"  # Python's parser of XML
    assert any("CPython.seldom" in url for url, _, _ in neat.requests)


def assert_growing(shown: list[list]) -> None:
    stages = [stage for stage, _ in shown]
    assert stages == sorted(stages, key=["Loading Python", "Starting Python"].index)
    loading = [value for stage, value in shown if stage == "Loading Python"]
    assert loading == sorted(loading)
    assert max(loading) > 0.5
