"""docs/page.png, the page with a sample converted, for the README; web/og.png, for previews."""

from pathlib import Path
from typing import Any

from browser import launch
from playwright.sync_api import Browser, sync_playwright
from site_page import DIST, ROOT, NeatPage, served

PAGE = (ROOT / "docs" / "page.png", "neataptic-ts", {"width": 1180, "height": 1085})
PREVIEW = (ROOT / "web" / "og.png", "neataptic-ts-lstm", {"width": 1200, "height": 630})
# The preview holds the verdict and the drawing. (The page's policy allows no other style sheet.)
ALONE = """() => {
    const hidden = ".bar, .intake, .dock, #runtime-check, #share, .choice, #graph-title, .zoom, "
        + "#player";
    document.querySelectorAll(hidden).forEach((element) => { element.hidden = true; });
    Object.assign(document.querySelector(".hero").style, { paddingBlock: "1.5rem .5rem" });
    document.querySelector("#verdict h1").style.fontSize = "3.5rem";
    for (const { style } of document.querySelectorAll("#verdict .lead")) style.maxWidth = "none";
}"""


def main() -> None:
    with served(DIST) as address, sync_playwright() as playwright:
        browser = launch(playwright)
        shot(browser, address, *PAGE)
        shot(browser, address, *PREVIEW, change=ALONE)
        browser.close()


def shot(
    browser: Browser, address: str, target: Path, sample: str, size: Any, change: str = "() => {}"
) -> None:
    """Photograph the page after a sample has been converted; `change` is run in it before."""
    page = browser.new_page(viewport=size)
    neat = NeatPage(page, address)
    neat.wait_ready()
    turns = neat.turns()
    page.evaluate("(hash) => { location.hash = hash; }", f"#sample={sample}")
    neat.outcome(turns)
    neat["runtime-verdict"].wait_for(timeout=60_000)
    page.evaluate(change)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(500)
    page.screenshot(path=target)
    page.close()
    print(target.relative_to(ROOT), f"{target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
