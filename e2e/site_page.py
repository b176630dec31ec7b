"""The built site, served; and the page as a person uses it."""

import contextlib
import json
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import onnx.parser
from browser import downloads
from playwright.sync_api import Locator, Page

import neat_onnx

ROOT = Path(__file__).absolute().parent.parent
DIST = ROOT / "web" / "dist"
CORPORA = ROOT / "tests" / "corpora"
SAMPLES = {
    "neataptic-ts": "nts-net-dag-24",
    "neataptic": "nap-net-random-1",
    "neat-python": "np-ff-19",
    "neataptic-ts-lstm": "nts-net-lstm-2",
}

# Of SharpNEAT 2: the page has to fetch Python's parser of XML for it.
GENOME = b"""<?xml version="1.0" encoding="utf-8"?>
<Root>
  <ActivationFunctions><Fn id="0" name="LogisticFunctionSteep" prob="1" /></ActivationFunctions>
  <Networks>
    <Network id="8" birthGen="1" fitness="2.5"><Nodes>
      <Node type="bias" id="0" /><Node type="in" id="1" /><Node type="out" id="2" />
    </Nodes><Connections><Con id="5" src="1" tgt="2" wght="1" /></Connections></Network>
  </Networks>
</Root>"""

DROP = """(zone, files) => {
    const dataTransfer = new DataTransfer();
    for (const [name, text] of files) {
        const bytes = Uint8Array.from(text, (letter) => letter.codePointAt(0));
        dataTransfer.items.add(new File([bytes], name));
    }
    for (const kind of ["dragenter", "dragover", "drop"]) {
        zone.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
    }
}"""

sys.path.insert(0, str(ROOT / "web"))

from serve import server  # noqa: E402


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server of `folder`, without a closing slash."""
    found = server(folder)
    threading.Thread(target=found.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{found.server_port}"
    finally:
        found.shutdown()
        found.server_close()


def case(name: str) -> dict[str, Any]:
    return json.loads((CORPORA / f"{name}.json").read_text())


def source_text(name: str) -> bytes:
    """The network document of a case, as a file."""
    return json.dumps(case(name)["source"]).encode()


def open_model() -> bytes:
    """A model with axes of no fixed size, which has to be told their sizes."""
    text = """<ir_version: 8, opset_import: ["": 18]>
        agraph (float[N, C, L] x) => (y) <int64[2] axes = {1, 2}> {
            y = ReduceSum <keepdims = 0> (x, axes)
        }"""
    return onnx.parser.parse_model(text).SerializeToString()


def write(field: Locator, text: str) -> None:
    """Put a text in the place of a field's; to one of numbers, Firefox's driver would add it."""
    field.fill("")
    field.fill(text)


REVEALED = """(each) => {
    for (const menu of document.querySelectorAll("details.menu")) menu.open = menu.contains(each);
    for (let at = each; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
}"""

_OPENED = """(each) => new Promise((done) => {
    const section = each.closest("details");
    const tell = () => done(section.open);
    if (section.open) tell();
    section.addEventListener("toggle", tell, { once: true });
    setTimeout(tell, 30000);
})"""
"""Whether the section of a part is open, soon after its key was pressed."""


def unfold(part: Locator) -> None:
    """Open the section that a part of a summary belongs to, if it is closed.

    By the keyboard: the second runtime's verdict may move the section from under a pointer. In
    Firefox a part of the summary cannot have the focus.
    """
    if not part.evaluate("(each) => each.closest('details').open"):
        part.locator("xpath=ancestor-or-self::summary").press("Enter")
        assert part.evaluate(_OPENED), "the section does not open"


class NeatPage:
    """The page, by the names that its elements carry.

    Attributes:
        browser: chromium or firefox.
        complaints: console errors and warnings, and uncaught exceptions.
        requests: (address, method, body) of each request that its browser made.
        crashed: whether the browser's process for it has died.
    """

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.browser = page.context.browser.browser_type.name
        self._given: tuple[int, dict[str, bytes]] | None = None
        self.complaints: list[str] = []
        self.requests: list[tuple[str, str, str | None]] = []
        self.crashed = False
        page.on("crash", self._crash)
        page.on("console", self._listen)
        page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))
        page.context.on(
            "request",
            lambda found: self.requests.append((found.url, found.method, found.post_data)),
        )
        page.goto(address if "#" in address else f"{address}/")

    def _crash(self, _: Page) -> None:
        self.crashed = True

    def _listen(self, message: Any) -> None:
        if message.type in ("error", "warning") and "blocked by Playwright" not in message.text:
            self.complaints.append(f"{message.type}: {message.text}")

    def __getitem__(self, name: str) -> Locator:
        return self.page.get_by_test_id(name)

    def text(self, name: str) -> str:
        """The text of a part, of one in a closed menu as well."""
        return self[name].evaluate("(each) => each.innerText.trim() || each.textContent")

    def reveal(self, name: str) -> Locator:
        """A part, with the menus and sections around it open."""
        self[name].first.evaluate(REVEALED)
        return self[name]

    def wait_ready(self) -> None:
        self.page.wait_for_selector("body[data-state=ready]", timeout=90_000)

    def choose(self, name: str, data: bytes) -> str:
        """Choose a file in the picker; gives the outcome, done or error."""
        return self.choose_all({name: data})

    def choose_all(self, files: dict[str, bytes]) -> str:
        """Choose files at once in the picker; gives the outcome."""
        uploads = [{"name": name, "mimeType": "", "buffer": data} for name, data in files.items()]
        return self.after(lambda: self["file-input"].set_input_files(files=uploads))

    def given(self, files: dict[str, bytes]) -> None:
        """Have files converted, with default options, unless their result is what stands there."""
        if self._given != (self.turns(), files):
            assert self.choose_all(files) == "done"
            self._given = (self.turns(), files)

    def given_case(self, name: str) -> None:
        """Have the network of a case converted, unless it is there."""
        self.given({f"{name}.json": source_text(name)})

    def unfold_all(self) -> None:
        """Open each section of the result that is seen; what unfolding adds stays closed."""
        summaries = self.page.locator("#inspector summary, #input-panel summary")
        for summary in reversed(summaries.all()):  # what one adds stands behind it
            if summary.is_visible():
                unfold(summary)

    def assert_fits(self) -> None:
        """Nothing is wider than the window, however narrow that is."""
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        for width in (320, 390, 768):
            self.page.set_viewport_size({"width": width, "height": 740})
            self.page.evaluate("new Promise(requestAnimationFrame)")  # observers of sizes draw anew
            assert self.page.evaluate(overflow) == 0, width

    def assert_in_sight(self) -> None:
        """Verdict, drawing, an input and the downloads are there without scrolling, wide or not."""
        for width, height in ((1440, 900), (390, 844)):
            self.page.set_viewport_size({"width": width, "height": height})
            self.page.evaluate("scrollTo(0, 0)")
            for name in ("chip", "graph", "slide-input-0", "download-menu"):
                part = self[name] if name != "chip" else self.page.locator("#chip summary")
                box = part.bounding_box()
                assert box["y"] >= 0, (name, width)
                assert box["y"] + min(box["height"], 200) <= height, (name, width)

    def follow(self, link: str) -> str:
        """Go to a link within the page, as Back and Forward do; gives the outcome."""
        go = "(hash) => { location.hash = hash; }"
        return self.after(lambda: self.page.evaluate(go, link.partition("#")[2]))

    def after(self, action: Callable[[], object]) -> str:
        """Do something that has a file converted; gives the outcome."""
        turns = self.turns()
        action()
        return self.outcome(turns)

    def export_again(self) -> str:
        """Export with the options of the form; gives the outcome."""
        return self.after(self["export-button"].click)

    def turns(self) -> int:
        return int(self.page.get_attribute("body", "data-turns"))

    def outcome(self, turns: int) -> str:
        """Wait until a file more than `turns` has come to its end."""
        self.page.wait_for_selector(f"body[data-turns='{turns + 1}']", timeout=60_000)
        return self.page.get_attribute("body", "data-job")

    def runtime_verdict(self) -> str:
        """What the second runtime says, once it has said it."""
        self["runtime-verdict"].wait_for(state="attached", timeout=60_000)
        return self.text("runtime-verdict")

    def download(self, kind: str) -> tuple[str, bytes]:
        """The name and bytes of a file, written when asked for: onnx, json or network."""
        return self.saved(f"download-{kind}")

    def assert_files(self, stem: str, model: neat_onnx.Model, net: neat_onnx.Network) -> None:
        """The three downloads are, byte for byte, what CPython makes of these."""
        assert self.download("onnx") == (f"{stem}.onnx", model.to_bytes())
        assert self.download("json") == (f"{stem}.onnx.json", model.to_json().encode())
        assert self.download("network") == (f"{stem}.network.json", net.to_json().encode())

    def saved(self, button: str) -> tuple[str, bytes]:
        """The name and bytes of the file that a button saves."""
        if self.browser != "chromium":  # Firefox saves it, and Playwright does not hear of it
            return self._saved_unheard(button)
        with self.page.expect_download() as waiting:
            self.reveal(button).click()
        return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()

    def _saved_unheard(self, button: str) -> tuple[str, bytes]:
        folder = Path(downloads().name)
        for path in folder.iterdir():
            path.unlink()
        self.reveal(button).click()
        for _ in range(600):
            paths = [*folder.iterdir()]
            if len(paths) == 1 and paths[0].suffix != ".part" and paths[0].stat().st_size:
                return paths[0].name, paths[0].read_bytes()
            self.page.wait_for_timeout(100)
        raise TimeoutError(f"{button} has saved nothing")

    def drag(self, *paths: Path) -> None:
        """Drop files on the drop zone: in Chromium as the system does it, else by events alone."""
        if self.browser != "chromium":
            files = [[path.name, path.read_bytes().decode("latin-1")] for path in paths]
            self["drop-zone"].evaluate(DROP, files)
            return
        box = self["drop-zone"].bounding_box()
        place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        session = self.page.context.new_cdp_session(self.page)
        for kind in ("dragEnter", "dragOver", "drop"):
            event = {"type": kind, **place, "data": data}
            session.send("Input.dispatchDragEvent", event)
