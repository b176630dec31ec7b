"""docs/page.png: the page with a sample converted, for the README."""

from browser import FLAGS, chromium
from playwright.sync_api import sync_playwright
from site_page import DIST, ROOT, NeatPage, served


def main() -> None:
    target = ROOT / "docs" / "page.png"
    target.parent.mkdir(exist_ok=True)
    with served(DIST) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1180, "height": 1085})
        neat = NeatPage(page, address)
        neat.wait_ready()
        turns = neat.turns()
        neat["sample-neataptic-ts"].click()
        neat.outcome(turns)
        page.wait_for_timeout(300)
        page.screenshot(path=target)
        browser.close()
    print(target.relative_to(ROOT))


if __name__ == "__main__":
    main()
