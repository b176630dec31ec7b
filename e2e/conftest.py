"""One server and one ready page for the tests of a process; fresh browsers on demand.

The tests run in Chromium, or in Firefox with `--browser firefox` (`make firefox`).
"""

import contextlib
import sys
import tempfile
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parent))

from browser import KINDS, launch, settings
from looks import Looks
from site_page import DIST, NeatPage, served
from visits import FirstVisits

SIZE = {"width": 1280, "height": 900}
PATIENCE = 60_000  # ms: a machine may be busy
# WebAssembly is compiled once more, for speed, after far more of it than usual: all pages end soon.
BRIEF = ("--js-flags=--wasm-tiering-budget=500000000",)


def pytest_addoption(parser):
    parser.addoption("--browser", choices=list(KINDS), default="chromium")


def pytest_configure(config):
    config.addinivalue_line("markers", "chromium(reason): the driver of Firefox cannot do it")


def pytest_runtest_setup(item):
    mark = item.get_closest_marker("chromium")
    if mark and item.config.getoption("--browser") == "firefox":
        pytest.skip(f"Chromium only: {mark.args[0]}")


@pytest.fixture(scope="session")
def kind(request):
    """The name of the browser."""
    return request.config.getoption("--browser")


@pytest.fixture(scope="session")
def address():
    if not (DIST / "index.html").exists():
        pytest.exit("web/dist is missing: run `make build` first", returncode=1)
    with served(DIST) as found:
        yield found


@pytest.fixture(scope="session")
def playwright():
    with sync_playwright() as found:
        yield found


@pytest.fixture(scope="session")
def browser(playwright, kind):
    found = launch(playwright, kind, flags=BRIEF)
    yield found
    found.close()


def made(browser, **options):
    """A browser context; without service workers, which answer in place of the server."""
    found = browser.new_context(**{"service_workers": "block", **options})
    found.set_default_timeout(PATIENCE)
    return found


@pytest.fixture
def new_context(browser):
    """Makes browser contexts, and closes them."""
    contexts = []
    yield lambda **options: contexts.append(made(browser, **options)) or contexts[-1]
    for each in contexts:
        each.unroute_all()  # else Firefox keeps no file any more, for any context
        each.close()


# onnxruntime-web runs every result once more: the tests that are not about it go without.
WITHOUT_CHECK = """
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...rest) {
    const isCheck = message?.runs && message?.model;
    if (!isCheck || globalThis.withRuntimeCheck) post.call(this, message, ...rest);
};"""


@contextlib.contextmanager
def on_disk(playwright):
    """A browser of its own with a profile on disk, which keeps compiled WebAssembly too.

    So Python starts again in a third of the processor time.
    """
    with tempfile.TemporaryDirectory(prefix="neat-onnx-", ignore_cleanup_errors=True) as profile:
        wanted = settings(flags=BRIEF) | {"service_workers": "block", "viewport": SIZE}
        found = playwright.chromium.launch_persistent_context(profile, **wanted)
        found.set_default_timeout(PATIENCE)
        yield found
        found.close()


@pytest.fixture(scope="session")
def context(request, playwright, kind):
    """Shared, so that its cache is warm after the first page."""
    with contextlib.ExitStack() as stack:
        if kind == "chromium":
            found = stack.enter_context(on_disk(playwright))
        else:
            found = made(request.getfixturevalue("browser"), viewport=SIZE)
            stack.callback(found.close)
        found.add_init_script(WITHOUT_CHECK)
        yield found


@pytest.fixture
def runtime_check(neat):
    """The shared page, which has a second runtime check each result."""
    neat.page.evaluate("globalThis.withRuntimeCheck = true")
    yield neat
    neat.page.evaluate("globalThis.withRuntimeCheck = false")


@pytest.fixture(scope="session")
def first_visits(context, address):
    """The first two visits of the shared browser: to a link, and to the page, which stays open."""
    return FirstVisits(context, address)


@pytest.fixture(scope="session")
def _pages(first_visits, context, address):
    """Gives the page that is open; another one when the browser's process for it has died."""
    opened = [first_visits.page]

    def current():
        if opened[-1].crashed:
            opened.append(NeatPage(context.new_page(), address))
        return opened[-1]

    yield current
    for each in opened:
        each.page.close()


@pytest.fixture
def neat(_pages):
    """A ready page with whatever result the test before left; Python starts but once for all."""
    shared = _pages()
    shared.wait_ready()
    shared.page.bring_to_front()
    shared.page.set_viewport_size(SIZE)
    shared.page.evaluate("""() => {
        scrollTo(0, 0);
        document.activeElement.blur();
        history.replaceState(null, "", location.pathname);
    }""")
    shared.wait_ready()
    yield shared
    shared.page.unroute_all()
    told = shared.complaints.copy()
    shared.complaints.clear()
    assert told == []


@pytest.fixture(scope="session")
def _looks(playwright, address, kind):
    with Looks(playwright, address, kind) as found:
        yield found


@pytest.fixture
def look(_looks, neat):
    """Gives the page as those see it who asked for `color_scheme="dark"` and the like."""
    yield lambda **wanted: _looks.page(neat, wanted)
    _looks.reset(neat)
