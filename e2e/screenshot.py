"""docs/page.png, the page with a sample; web/og.png, for previews; web/icon-….png."""

from pathlib import Path
from typing import Any

from browser import launch
from playwright.sync_api import Browser, sync_playwright
from site_page import DIST, ROOT, NeatPage, served

PAGE = (ROOT / "docs" / "page.png", "neataptic-ts-lstm", {"width": 1440, "height": 900})
PREVIEW = (ROOT / "web" / "og.png", "neataptic-ts-lstm", {"width": 1200, "height": 630})
# The preview holds the verdict and the drawing alone.
ALONE = """() => {
    for (const part of document.querySelectorAll(".actions, .status, .zoom, .inputs, .inspector")) {
        part.hidden = true;
    }
    document.body.toggleAttribute("data-embed", true);
    document.getElementById("output-panel").hidden = true;
    document.querySelector(".workbench").style.gridTemplate = "'stage' minmax(0, 1fr) / 1fr";
}"""


ICONS = {"icon-192": (192, False), "icon-512": (512, False), "icon-512-maskable": (512, True)}
INK = "#191814"  # the square of the icon, which a maskable one fills its own with


def main() -> None:
    with served(DIST) as address, sync_playwright() as playwright:
        browser = launch(playwright)
        shot(browser, address, *PAGE)
        shot(browser, address, *PREVIEW, change=ALONE)
        for name, (size, maskable) in ICONS.items():
            icon(browser, ROOT / "web" / f"{name}.png", size, maskable=maskable)
        browser.close()


def icon(browser: Browser, target: Path, size: int, *, maskable: bool) -> None:
    """Photograph web/icon.svg; platforms cut away what is not in the middle of a maskable one."""
    page = browser.new_page(viewport={"width": size, "height": size})
    drawing = (ROOT / "web" / "icon.svg").read_text()
    style = f"svg {{ display: block; margin: {0.1 * maskable * size}px auto }}"
    style += f"html {{ background: {INK if maskable else 'transparent'} }} body {{ margin: 0 }}"
    side = size * (1 - 0.2 * maskable)
    page.set_content(f"<style>{style}</style>" + drawing.replace("<svg ", f'<svg width="{side}" '))
    page.screenshot(path=target, omit_background=True)
    page.close()


def shot(
    browser: Browser, address: str, target: Path, sample: str, size: Any, change: str = "() => {}"
) -> None:
    """Photograph the page after steps of a sample; `change` is run in it before."""
    page = browser.new_page(viewport=size)
    neat = NeatPage(page, address)
    neat.wait_ready()
    turns = neat.turns()
    page.evaluate("(hash) => { location.hash = hash; }", f"#sample={sample}")
    neat.outcome(turns)
    neat["runtime-verdict"].wait_for(state="attached", timeout=60_000)
    for place, value in enumerate((0.6, -0.4, 0.8)):
        neat[f"step-input-{place}"].fill(str(value))
    for _ in range(8):
        neat["step-button"].click()
    page.evaluate(change)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(500)
    page.screenshot(path=target)
    page.close()
    print(target.relative_to(ROOT), f"{target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
