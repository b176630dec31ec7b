"""The visits of one browser, from its first: what each fetches, and where Python goes on from.

A visit whose file came early keeps no snapshot of Python; the next without one does, and later
visits go on from there.
"""

import time
from typing import Any

from playwright.sync_api import BrowserContext
from site_page import NeatPage

PACKAGES = """performance.getEntriesByType("resource")
  .filter(({ name }) => name.includes("/packages/"))
  .map(({ name, transferSize }) => [name, transferSize])"""
WATCH = """
window.shown = [];
document.addEventListener("DOMContentLoaded", () => {
  const look = () => {
    const bar = document.querySelector("progress");
    const stage = document.querySelector("#progress span")?.textContent;
    const { state } = document.body.dataset;
    if (bar && state === "loading") shown.push([stage, bar.value]);
    if (state !== "ready") requestAnimationFrame(look);
  };
  look();
});"""
# The number of snapshots of Python that the browser keeps, but for those that have failed.
KEPT = """async () => {
    const names = (await caches.keys()).filter((name) => name.includes("snapshot"));
    const kept = await Promise.all(names.map(async (name) => (await caches.open(name)).matchAll()));
    return kept.flat().filter(({ ok }) => ok).length;
}"""


class Visit:
    """A visit, and what it has shown until it was ready.

    Attributes:
        neat: the page.
        shown: stages and fractions of the progress.
        start: how Python was started.
        sizes: bytes over the network, of each package.
    """

    def __init__(self, context: BrowserContext, address: str) -> None:
        page = context.new_page()
        page.add_init_script(WATCH)
        self.neat = NeatPage(page, address)

    def wait(self) -> None:
        self.neat.wait_ready()
        evaluate = self.neat.page.evaluate
        self.shown: list[list[Any]] = evaluate("shown")
        ready = "performance.getEntriesByName('ready').at(-1).detail"
        self.start: dict[str, Any] = evaluate(ready)
        self.sizes: dict[str, int] = dict(evaluate(PACKAGES))

    def snapshots(self, wanted: int) -> int:
        """How many snapshots the browser keeps, once it is as wanted, or a minute is over."""
        end = time.monotonic() + 60
        while (found := self.neat.page.evaluate(KEPT)) != wanted and time.monotonic() < end:
            self.neat.page.wait_for_timeout(100)
        return int(found)


class FirstVisits:
    """A link opened in a browser that has seen nothing, and the page opened after it.

    Attributes:
        link, then: the two visits; the page of the second stays open.
        files: what the first gave, the network and the model.
        snapshots: how many were kept after each.
        complaints: of the first page.
    """

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.link = Visit(
            context, f"{address}/#sample=neataptic-ts&options=%7B%22dtype%22:%22float64%22%7D"
        )
        neat = self.link.neat
        assert neat.outcome(0) == "done"
        self.link.wait()
        self.files = {kind: neat.download(kind) for kind in ("network", "onnx")}
        self.dtype = neat.page.locator("#option-dtype").input_value()
        before = self.link.snapshots(0)
        self.complaints = neat.complaints
        neat.page.close()
        self.then = Visit(context, address)
        self.then.wait()
        self.snapshots = before, self.then.snapshots(1)
        self.page = self.then.neat
