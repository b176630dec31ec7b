"""How the page starts: what it fetches, what it keeps, and what it says meanwhile."""

import gzip
import json

from site_page import DIST, GENOME, NeatPage, case, source_text

import neat_onnx

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


def test_a_link_opens_the_same_genome_in_a_fresh_browser_and_a_second_visit_asks_for_no_package(
    neat, fresh_browser
):
    neat.choose("winner.json", source_text("nts-net-dag-24"))
    neat.page.locator("#option-dtype").select_option("float64")
    turns = neat.turns()
    neat["export-button"].click()
    assert neat.outcome(turns) == "done"
    neat.page.wait_for_url("**options=*")
    context = fresh_browser()

    first = visit(context, neat.page.evaluate("location.href"))
    assert first.outcome(0) == "done"
    assert_growing(first.page.evaluate("shown"))
    net = neat_onnx.load_network(case("nts-net-dag-24")["source"])
    assert first.download("network") == ("winner.network.json", net.to_json().encode())
    assert first.download("onnx")[1] == neat_onnx.export(net, dtype="float64").to_bytes()
    assert first.page.locator("#option-dtype").input_value() == "float64"
    sizes = dict(first.page.evaluate(PACKAGES))
    assert all(size > 0 for size in sizes.values())
    first.page.close()

    second = visit(context, neat.page.url.partition("#")[0].rstrip("/"))
    assert second.page.get_attribute("body", "data-state") == "loading"
    assert second.choose("early.json", source_text("nap-net-perceptron-4")) == "done"
    assert second.text("verdict") == "passed"  # the file has waited for Python
    again = dict(second.page.evaluate(PACKAGES))
    assert set(again) >= {name for name in sizes if "numpy" in name}
    assert set(again.values()) == {0}
    assert first.complaints + second.complaints == []


def visit(context, url: str) -> NeatPage:
    """A page at an address that watches its own progress."""
    page = context.new_page()
    page.add_init_script(WATCH)
    return NeatPage(page, url)


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
    stages = [stage.partition(".")[0] for stage, _ in shown]
    assert stages == sorted(stages, key=["Loading Python", "Starting Python"].index)
    loading = [value for stage, value in shown if stage.startswith("Loading Python")]
    assert loading == sorted(loading)
    assert max(loading) > 0.5
