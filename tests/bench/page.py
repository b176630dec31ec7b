"""How fast the page is: until it is ready, from a dropped file to its verdict, and as it draws.

`page_rows` gives the rows of docs/speed.md; `make build` makes the page before. The browser draws
without a graphics card.

`ready`, warm, is compared with a bare call of loadPyodide in the same run, with files as npm has
them. The two alternate. A private window keeps no file as large as
Pyodide's and no compiled code; a profile on disk, as a person has, does. Later visits go on from
the snapshot that the first has had kept.
"""

import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from playwright.sync_api import BrowserContext, Locator, Page, sync_playwright
from rows import Row

ROOT = Path(__file__).absolute().parents[2]
sys.path[:0] = [str(ROOT / "e2e"), str(ROOT / "tests")]

from browser import launch, settings  # noqa: E402
from site_page import DIST, NeatPage, served  # noqa: E402
from support.examples.made import evolved  # noqa: E402
from visits import KEPT  # noqa: E402

REST = 3000  # ms; the warming up and the browser's own compiling would be the next page's time
BARE_WORKER = """
const { loadPyodide } = await import("./pyodide/pyodide.mjs");
await loadPyodide({ indexURL: new URL("./pyodide/", self.location.href).href });
postMessage("ready");
"""
BARE_PAGE = """<!doctype html><title>bare</title><p>bare</p><script type="module">
new Worker("bare-worker.js", { type: "module" }).onmessage = () => {
  performance.mark("ready");
  document.body.dataset.state = "ready";
};
</script>"""
PAGES = ("published/bare.html", "index.html")


def network(neurons: int) -> bytes:
    """A NeatapticTS network grown at random: four connections into each neuron."""
    return json.dumps(evolved(neurons - 8).to_library("neataptic-ts")).encode()


def ready(context: BrowserContext, url: str, *, until_kept: bool = False) -> float:
    """Seconds until a page is ready; of a first visit it stays until a snapshot is kept."""
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("body[data-state=ready]", timeout=90_000)
    found = float(page.evaluate("performance.getEntriesByName('ready')[0].startTime"))
    page.wait_for_timeout(REST)
    while until_kept and not page.evaluate(KEPT):
        page.wait_for_timeout(REST)
    page.close()
    return found / 1000


def ready_rows(context: BrowserContext, address: str, where: str, rounds: int) -> Iterator[Row]:
    first = ready(context, f"{address}/index.html", until_kept=True)
    yield Row(f"page, {where}: `ready` on the first visit, s", first, None, False)
    for page in PAGES:
        ready(context, f"{address}/{page}")
    times = [[ready(context, f"{address}/{page}") for page in PAGES] for _ in range(rounds)]
    bare, ours = (statistics.median(column) for column in zip(*times, strict=True))
    ratios = [later / plain for plain, later in times]
    detail = f"{ours:.2f} s to {bare:.2f} s; {min(ratios):.2f} to {max(ratios):.2f}"
    what = f"page, {where}: `ready` later, times a bare loadPyodide as npm has it"
    yield Row(what, statistics.median(ratios), 1.2, False, detail)


def verdict(neat: NeatPage, data: bytes) -> float:
    """Seconds from a file's drop to its verdict."""
    assert neat.choose("evolved.json", data) == "done", neat.text("error")
    last = "performance.getEntriesByName('{}').at(-1).startTime"
    return float(neat.page.evaluate(f"{last.format('verdict')} - {last.format('drop')}")) / 1000


def verdict_row(what: str, times: list[float], bound: float | None) -> Row:
    return Row(what, statistics.median(times), bound, False, f"worst {max(times):.2f}")


def haste_row(
    contexts: Callable[[], BrowserContext],
    address: str,
    when: str,
    rounds: int,
    bound: float | None,
) -> Row:
    """A file that is dropped in the very moment that the page is ready."""
    times = []
    for _ in range(rounds):
        neat = NeatPage(contexts().new_page(), address)
        neat.wait_ready()
        times.append(verdict(neat, network(1000)))
        neat.page.close()
    return verdict_row(f"page: 1,000 neurons dropped at `ready` → verdict, {when}, s", times, bound)


# --- drawing --------------------------------------------------------------------------------------

MOVES = 120
WATCH = """() => {
    self.frames = [];
    self.tasks = [];
    const count = (time) => { frames.push(time); self.asked = requestAnimationFrame(count); };
    self.asked = requestAnimationFrame(count);
    self.observer = new PerformanceObserver((list) => {
        tasks.push(...list.getEntries().map(({ duration }) => duration));
    });
    observer.observe({ type: "longtask" });
}"""
TOLD = """() => {
    cancelAnimationFrame(asked);
    tasks.push(...observer.takeRecords().map(({ duration }) => duration));
    observer.disconnect();
    return [frames.length, frames.at(-1) - frames[0], Math.max(0, ...tasks)];
}"""


def along(page: Page, target: Locator, *, dragged: bool) -> Iterator[Row]:
    """Move the pointer over an element, to its right and back, as a hand does; watch the frames.

    The processor time of the page's thread does not change on a busy machine.
    """
    box = target.bounding_box()
    assert box is not None
    if dragged:
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
    chrome = page.context.new_cdp_session(page)
    chrome.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy() -> float:
        metrics = chrome.send("Performance.getMetrics")["metrics"]
        return next(each["value"] for each in metrics if each["name"] == "TaskDuration")

    page.evaluate(WATCH)
    before = busy()
    for step in range(MOVES):
        share = abs(1 - step / MOVES * 4 % 2)
        y = box["height"] * (0.5 if dragged else 0.1 + 0.8 * (step % 17) / 16)
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + y)
        page.wait_for_timeout(12)
    count, span, longest = page.evaluate(TOLD)
    thread = f"{(busy() - before) / count * 1000:.1f} ms of the page's thread a frame"
    page.mouse.up()
    what = "a slider dragged, 300 neurons" if dragged else "the pointer over 4,000 neurons"
    yield Row(f"page: {what}, frames a second", (count - 1) / span * 1000, 55, True, thread)
    yield Row(f"page: {what}, longest task, ms", longest, 50, False)


def drawing_rows(neat: NeatPage) -> Iterator[Row]:
    page = neat.page
    assert neat.choose("evolved.json", network(300)) == "done"
    neat["slide-input-0"].scroll_into_view_if_needed()
    page.wait_for_timeout(6000)  # the second runtime has had its say
    yield from along(page, neat["slide-input-0"], dragged=True)
    assert neat.choose("evolved.json", network(4000)) == "done"
    page.get_by_role("button", name="Draw all").click()
    drawing = page.locator("canvas[data-testid=graph]")
    drawing.scroll_into_view_if_needed()
    page.wait_for_timeout(10_000)
    yield from along(page, drawing, dragged=False)


def page_rows(*, small: bool) -> list[Row]:
    """Measure the page; `small` does everything once."""
    rounds, found = (1, []) if small else (7, [])
    with tempfile.TemporaryDirectory() as scratch:
        site = Path(scratch) / "site"
        shutil.copytree(DIST, site)
        shutil.copytree(ROOT / "node_modules" / "pyodide", site / "published" / "pyodide")
        (site / "published" / "bare.html").write_text(BARE_PAGE)
        (site / "published" / "bare-worker.js").write_text(BARE_WORKER)
        with served(site) as address, sync_playwright() as playwright:
            browser = launch(playwright)
            found += ready_rows(browser.new_context(), address, "private window", rounds)
            found.append(haste_row(browser.new_context, address, "first visit", rounds, None))
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.set_default_timeout(120_000)
            neat = NeatPage(page, address)
            neat.wait_ready()
            found += drawing_rows(neat)
            browser.close()
            folder = Path(scratch) / "profile"
            context = playwright.chromium.launch_persistent_context(folder, **settings())
            found += ready_rows(context, address, "with a profile", rounds)
            found.append(haste_row(lambda: context, address, "later", rounds, 1.5))
            neat = NeatPage(context.new_page(), address)
            neat.wait_ready()
            neat.page.wait_for_timeout(REST)
            for neurons in (112, 1000):
                data = network(neurons)
                times = [verdict(neat, data) for _ in range(min(rounds, 5))]
                what = f"page: {neurons:,} neurons dropped → verdict, s"
                found.append(verdict_row(what, times, 2))
            context.close()
    return found
