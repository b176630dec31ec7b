"""One browser and one server for all tests; a page that is ready for each."""

import sys
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parent))

from browser import FLAGS, chromium
from site_page import DIST, NeatPage, served


@pytest.fixture(scope="session")
def address():
    if not (DIST / "index.html").exists():
        pytest.exit("web/dist is missing: run `make build` first", returncode=1)
    with served(DIST) as found:
        yield found


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield found
        found.close()


@pytest.fixture(scope="session")
def context(browser):
    """Shared, so that its cache is warm after the first page."""
    found = browser.new_context(viewport={"width": 1280, "height": 900})
    yield found
    found.close()


@pytest.fixture
def neat(context, address):
    """A ready page; at its end, it must not have complained."""
    page = context.new_page()
    neat = NeatPage(page, address)
    neat.wait_ready()
    yield neat
    page.close()
    assert neat.complaints == []


@pytest.fixture(scope="module")
def shared(context, address):
    """A ready page for several tests in a row: what one leaves must not disturb the next."""
    page = context.new_page()
    neat = NeatPage(page, address)
    neat.wait_ready()
    yield neat
    page.close()
    assert neat.complaints == []
