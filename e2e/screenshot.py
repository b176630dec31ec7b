"""docs/page.png, the page with a sample converted, for the README; web/og.png, for previews."""

from browser import FLAGS, chromium
from playwright.sync_api import Browser, sync_playwright
from site_page import DIST, ROOT, NeatPage, served

PAGE = (ROOT / "docs" / "page.png", "neataptic-ts", {"width": 1180, "height": 1085})
PREVIEW = (ROOT / "web" / "og.png", "neataptic-ts-lstm", {"width": 1200, "height": 630})
# Of the preview: the verdict and the drawing, large.
LARGE = """
.bar, .intake, #second, #share, #dock, #graph-title, .zoom { display: none !important; }
main { padding-block: 1.5rem !important; }
#verdict h1 { font-size: 3.2rem; margin-block: .25rem; }
.card { border: 0; box-shadow: none; background: none; padding-block: 0; }
"""


def main() -> None:
    with served(DIST) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        shot(browser, address, *PAGE)
        shot(browser, address, *PREVIEW, style=LARGE)
        browser.close()


def shot(browser: Browser, address: str, target, sample: str, size, style: str = "") -> None:
    page = browser.new_page(viewport=size)
    neat = NeatPage(page, address)
    neat.wait_ready()
    turns = neat.turns()
    neat[f"sample-{sample}"].click()
    neat.outcome(turns)
    neat["second-verdict"].wait_for(timeout=60_000)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(500)
    page.screenshot(path=target, style=style)
    page.close()
    print(target.relative_to(ROOT), f"{target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
