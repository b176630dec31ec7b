"""How long the page takes: until it is ready, and from a dropped file to its verdict.

    python tests/bench/bench_page.py        (after `make build`)

`ready`, warm, is compared with two bare calls of loadPyodide in the same run: with the files as npm
has them, and with the page's standard library, which is trimmed and compiled. The three alternate,
and `ready` is compared with those just before it. Once in a private window, which keeps no file as
large as Pyodide's and no compiled code; once with a profile on disk, as a person has. Later visits
go on from the snapshot that the first has had kept.
"""

import gzip
import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from playwright.sync_api import BrowserContext, sync_playwright

sys.path.insert(0, str(Path(__file__).absolute().parents[2] / "e2e"))

from browser import launch, settings
from site_page import DIST, KEPT, NeatPage, served

PUBLISHED = Path(__file__).absolute().parents[2] / "node_modules" / "pyodide"
ROUNDS = 7
REST = 3000  # ms; the warming up and the browser's own compiling would be the next page's time
BARE_WORKER = """
const begin = performance.now();
const { loadPyodide } = await import("./pyodide/pyodide.mjs");
await loadPyodide({ indexURL: new URL("./pyodide/", self.location.href).href });
postMessage({ total: performance.now() - begin });
"""
BARE_PAGE = """<!doctype html><title>bare</title><p>bare</p><script type="module">
new Worker("bare-worker.js", { type: "module" }).onmessage = ({ data }) => {
  performance.mark("ready", { detail: data });
  document.body.dataset.state = "ready";
};
</script>"""


def evolved(hidden: int, inputs: int = 8, outputs: int = 4, seed: int = 0) -> bytes:
    """A NeatapticTS network grown at random: about four connections into each neuron."""
    rng = np.random.default_rng(seed)
    total = inputs + hidden + outputs
    kinds = ["input"] * inputs + ["hidden"] * hidden + ["output"] * outputs
    nodes = [
        {
            "type": kind,
            "bias": float(rng.normal()),
            "squash": "tanh",
            "index": index,
            "geneId": index,
        }
        for index, kind in enumerate(kinds)
    ]
    connections = []
    for target in range(inputs, total):
        among = min(target, inputs + hidden)
        low = max(0, among - 120)
        for source in rng.choice(np.arange(low, among), min(4, among - low), replace=False):
            weight = float(rng.normal() / 2)
            link = {"from": int(source), "to": target, "weight": weight, "gater": None}
            connections.append({**link, "enabled": True})
    document = {"formatVersion": 2, "input": inputs, "output": outputs, "dropout": 0}
    return json.dumps({**document, "nodes": nodes, "connections": connections}).encode()


def first_visit(context: BrowserContext, url: str) -> dict[str, float]:
    """The first visit, which ends once a snapshot is kept for the next."""
    found = ready(context, url)
    page = context.new_page()
    page.goto(url)
    while not page.evaluate(KEPT):
        page.wait_for_timeout(REST)
    page.close()
    return found


def ready(context: BrowserContext, url: str) -> dict[str, float]:
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("body[data-state=ready]", timeout=90_000)
    mark = page.evaluate(
        "(({startTime, detail}) => ({page: startTime, ...detail}))"
        "(performance.getEntriesByName('ready')[0])"
    )
    page.wait_for_timeout(REST)
    page.close()
    return dict(mark)


def shown(title: str, times: list[dict[str, float]]) -> None:
    """Print the median of each part."""
    middle = {key: statistics.median(each[key] for each in times) for key in times[0]}
    went_on = ", going on from a snapshot" if middle.pop("wentOn", False) else ""
    parts = ", ".join(f"{key} {value:.0f}" for key, value in middle.items() if key != "page")
    parts += went_on
    print(f"{title:<34}{middle['page']:7.0f} ms   in the worker: {parts}")


def bench_ready(context: BrowserContext, address: str, where: str) -> None:
    print(where)
    shown("ready, first visit", [first_visit(context, f"{address}/index.html")])
    pages = {
        "bare loadPyodide as published, warm": "published/bare.html",
        "bare with our standard library, warm": "bare.html",
        "ready, warm": "index.html",
    }
    for page in pages.values():
        ready(context, f"{address}/{page}")
    times: dict[str, list[dict[str, float]]] = {title: [] for title in pages}
    for _ in range(ROUNDS):
        for title, page in pages.items():
            times[title].append(ready(context, f"{address}/{page}"))
    for title, each in times.items():
        shown(title, each)
    published, bare, ours = ([each["page"] for each in every] for every in times.values())
    print_ratio("ready ÷ bare, as published", ours, published, "bound 1.2: ")
    print_ratio("ready ÷ bare, our library", ours, bare)


def print_ratio(title: str, ours: list[float], others: list[float], bound: str = "") -> None:
    ratios = [one / other for one, other in zip(ours, others, strict=True)]
    ratio = statistics.median(ratios)
    verdict = ("met" if ratio <= 1.2 else "MISSED") if bound else ""
    print(f"{title:<34}{ratio:7.2f}      {min(ratios):.2f} to {max(ratios):.2f}   {bound}{verdict}")


def verdict(neat: NeatPage, data: bytes) -> float:
    """Milliseconds from a file's drop to its verdict."""
    assert neat.choose("evolved.json", data) == "done", neat.text("error")
    last = "performance.getEntriesByName('{}').at(-1).startTime"
    return float(neat.page.evaluate(f"{last.format('verdict')} - {last.format('drop')}"))


def print_times(title: str, times: list[float], most: int | None) -> None:
    middle = statistics.median(times)
    bound = "" if most is None else f"bound {most}: {'met' if middle <= most else 'MISSED'}"
    print(f"{title:<46}{middle:7.0f} ms   worst {max(times):.0f}   {bound}")


def bench_verdict(context: BrowserContext, address: str) -> None:
    neat = NeatPage(context.new_page(), address)
    neat.wait_ready()
    neat.page.wait_for_timeout(REST)
    for hidden in (100, 988):
        data = evolved(hidden)
        times = [verdict(neat, data) for _ in range(5)]
        print_times(f"drop → verdict, {hidden + 12} neurons", times, 2000)
    neat.page.close()


def bench_haste(
    contexts: Callable[[], BrowserContext], address: str, when: str, most: int | None
) -> None:
    """A file that is dropped in the very moment that the page is ready."""
    for hidden in (100, 988):
        data, times = evolved(hidden), []
        for _ in range(ROUNDS):
            neat = NeatPage(contexts().new_page(), address)
            neat.wait_ready()
            times.append(verdict(neat, data))
            neat.page.close()
        print_times(f"drop at once → verdict, {hidden + 12}, {when}", times, most)


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        site = Path(scratch) / "site"
        shutil.copytree(DIST, site)
        library = site / "pyodide" / "python_stdlib.zip"
        library.write_bytes(gzip.decompress(Path(f"{library}.gz").read_bytes()))
        shutil.copytree(PUBLISHED, site / "published" / "pyodide")
        for folder in (site, site / "published"):
            (folder / "bare.html").write_text(BARE_PAGE)
            (folder / "bare-worker.js").write_text(BARE_WORKER)
        with served(site) as address, sync_playwright() as playwright:
            browser = launch(playwright)
            bench_ready(browser.new_context(), address, "in a private window")
            bench_haste(browser.new_context, address, "first visit", None)
            browser.close()
            profile = Path(scratch) / "profile"
            context = playwright.chromium.launch_persistent_context(profile, **settings())
            bench_ready(context, address, "with a profile")
            bench_haste(lambda: context, address, "later", 1500)
            bench_verdict(context, address)
            context.close()


if __name__ == "__main__":
    main()
