"""One browser, one server and one ready page for the tests of a process; fresh ones on demand."""

import sys
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parent))

from browser import FLAGS, chromium
from site_page import DIST, NeatPage, served

SIZE = {"width": 1280, "height": 900}
PATIENCE = 60_000  # ms: a machine may be busy


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
def new_context(browser):
    """Makes browser contexts; without service workers, which answer in place of the server."""

    def make(**options):
        found = browser.new_context(**{"service_workers": "block", **options})
        found.set_default_timeout(PATIENCE)
        return found

    return make


# onnxruntime-web runs every result once more: the tests that are not about it go without.
WITHOUT_SECOND = """
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...rest) {
    const isExam = message?.order && message?.model;
    if (!isExam || globalThis.withSecondOpinion) post.call(this, message, ...rest);
};"""


@pytest.fixture(scope="session")
def context(new_context):
    """Shared, so that its cache is warm after the first page."""
    found = new_context(viewport=SIZE)
    found.add_init_script(WITHOUT_SECOND)
    yield found
    found.close()


@pytest.fixture
def second_opinion(neat):
    """The shared page, which asks the second runtime too."""
    neat.page.evaluate("globalThis.withSecondOpinion = true")
    yield neat
    neat.page.evaluate("globalThis.withSecondOpinion = false")


@pytest.fixture
def fresh(context, address):
    """A page that has just become ready; at its end, it must not have complained."""
    page = context.new_page()
    neat = NeatPage(page, address)
    neat.wait_ready()
    yield neat
    page.close()
    assert neat.complaints == []


@pytest.fixture(scope="session")
def _booted(context, address):
    neat = NeatPage(context.new_page(), address)
    neat.wait_ready()
    yield neat
    neat.page.close()


@pytest.fixture
def neat(_booted):
    """A ready page with whatever result the test before left; Python starts but once for all."""
    _booted.page.set_viewport_size(SIZE)
    _booted.page.evaluate("""() => {
        scrollTo(0, 0);
        document.activeElement.blur();
        history.replaceState(null, "", location.pathname);
    }""")
    _booted.wait_ready()
    yield _booted
    _booted.page.emulate_media(
        media="null", color_scheme="null", forced_colors="null", reduced_motion="null"
    )
    _booted.page.unroute_all()
    told = _booted.complaints.copy()
    _booted.complaints.clear()
    assert told == []
