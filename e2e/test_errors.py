"""A bad file says what is wrong and where, and the page goes on working."""

import json
from collections.abc import Callable

import pytest
from browser import launch
from playwright.sync_api import Locator
from site_page import CORPORA, DIST, NeatPage, case, source_text, unfold

import neat_onnx

# Ask the engine for methods that it does not have, in the place of two that it has.
MISTAKEN = """() => {
    const post = globalThis.given = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (message, ...rest) {
        const other = { parity: "plots", model_graph: "picture" }[message.method];
        return post.call(this, other ? { ...message, method: other } : message, ...rest);
    };
}"""


def test_a_bad_file_then_a_good_one(neat):
    assert neat.choose("broken.json", b'{"nodes": [}') == "error"
    told = neat.text("error")
    assert "broken.json" in told
    assert "Invalid JSON" in told
    assert "line 1, column 12" in told
    assert neat.text("status") == "ready"

    assert neat.choose("good.json", source_text("nts-net-dag-24")) == "done"
    assert neat.text("verdict") == "passed"
    assert not neat["error"].is_visible()


def test_what_goes_wrong_leaves_the_last_good_answer_and_its_form(neat):
    neat.given({"good.json": source_text("nts-net-dag-24")})
    assert exported_with(neat, "dtype", lambda field: field.select_option("float64")) == "done"
    before = neat.download("onnx"), neat.text("mse")

    unfold(neat.page.get_by_text("What to refuse"))
    assert exported_with(neat, "allow_mixed_activations", lambda field: field.uncheck()) == "error"
    assert "Allow mixed activations" in neat.text("error")
    assert neat.page.locator("#option-allow_mixed_activations").is_checked()
    assert_left(neat, before)
    assert neat.choose("bad.json", b"{}") == "error"
    assert "You still see good.json" in neat.text("error")
    assert_left(neat, before)

    neat.page.set_viewport_size({"width": 800, "height": 500})
    assert neat.choose("cat.json", b"\x89PNG\r\n\x1a\n0000") == "error"
    assert "This is a PNG image" in neat.text("error")
    assert neat.page.evaluate("document.activeElement.id") == "error"
    assert 0 <= neat["error"].bounding_box()["y"] < 500  # the error has come into view


def test_what_cannot_be_plotted_or_shown_says_why(neat):
    assert neat.choose("good.json", source_text("nts-net-dag-24")) == "done"
    neat.page.evaluate(MISTAKEN)
    for fold, method in (("parity", "plots"), ("model-graph", "picture")):
        unfold(neat[fold].locator("summary").first)
        warning = neat[fold].locator(".warning")
        warning.wait_for()
        assert f"there is no method '{method}'" in warning.inner_text()
    neat.page.evaluate("() => { Worker.prototype.postMessage = globalThis.given; }")


def exported_with(neat: NeatPage, option: str, change: Callable[[Locator], object]) -> str:
    """Export again with an option changed; gives the outcome."""
    turns = neat.turns()
    change(neat.page.locator(f"#option-{option}"))
    neat["export-button"].click()
    return neat.outcome(turns)


def assert_left(neat: NeatPage, before: object) -> None:
    assert (neat.download("onnx"), neat.text("mse")) == before
    assert neat.page.locator("#option-dtype").input_value() == "float64"


TWO_AT_ONCE = """(input, sources) => {
    for (const [name, text] of sources) {
        const chosen = new DataTransfer();
        chosen.items.add(new File([text], name));
        input.files = chosen.files;
        input.dispatchEvent(new Event("change", { bubbles: true }));
    }
}"""


def test_what_is_under_way_can_be_cancelled_and_the_newest_of_two_files_wins(neat):
    neat.given({"good.json": source_text("nts-net-dag-24")})
    wide = neat_onnx.Network.mlp([140, 140, 140, 1], activation="tanh", seed=0).to_json().encode()
    upload = {"name": "wide.json", "mimeType": "application/json", "buffer": wide}
    turns = neat.turns()
    neat["file-input"].set_input_files(files=[upload])
    neat["cancel"].wait_for()
    neat.page.keyboard.press("Escape")
    assert neat.outcome(turns) == "done"
    assert "good.json" in neat.page.locator("#file-name").inner_text()
    name, data = neat.download("network")  # the engine is new, and reads the file again
    net = neat_onnx.load_network(case("nts-net-dag-24")["source"])
    assert (name, data) == ("good.network.json", net.to_json().encode())

    turns = neat.turns()
    sources = {"old.json": source_text("nts-net-mlp-4"), "new.json": source_text("np-ff-13")}
    neat["file-input"].evaluate(
        TWO_AT_ONCE, [[name, data.decode()] for name, data in sources.items()]
    )
    assert neat.outcome(turns) == "done"
    net = neat_onnx.load_network(case("np-ff-13")["source"])
    assert neat.download("network") == ("new.network.json", net.to_json().encode())
    assert neat.turns() == turns + 1


WRITTEN = """(text) => {
    const area = document.createElement("textarea");
    area.id = "written";
    area.value = text;
    document.body.append(area);
    area.select();
}"""


def paste(neat: NeatPage, text: str) -> None:
    """Copy a text from a field that is then gone, and paste it into the page."""
    neat.page.evaluate(WRITTEN, text)
    neat.page.keyboard.press("ControlOrMeta+C")
    neat.page.evaluate("document.getElementById('written').remove()")
    neat.page.keyboard.press("ControlOrMeta+V")


MODEL = '<ir_version: 8, opset_import: ["": 18]> agraph (float[N, 2] x) => (float[N, 2] y) '
MODEL += "{ y = Tanh (x) }"


def test_pasted_text_is_taken_and_other_text_is_told(neat):
    assert neat.after(lambda: paste(neat, source_text("nap-net-perceptron-4").decode())) == "done"
    assert neat.download("onnx")[0] == "pasted.onnx"
    paste(neat, "https://example.com/net.json")
    neat["notice"].get_by_text("an address").wait_for()
    paste(neat, "hello")
    neat["error"].get_by_text("text that begins with 'hello'").wait_for()
    assert neat.after(lambda: paste(neat, MODEL)) == "done"
    assert neat.text("verdict") == "passed"


STUCK = "still waiting for its scripts"


def test_a_page_without_its_scripts_says_why(new_context, playwright, address, kind):
    """Where they may not run: a setting of a context in Chromium, a preference in Firefox."""
    off = {"javascript.enabled": False}
    browser = None if kind == "chromium" else launch(playwright, kind, preferences=off)
    silent = browser.new_page() if browser else new_context(java_script_enabled=False).new_page()
    context = new_context()
    context.route("**/app.js", lambda route: route.abort())
    pages = {silent: f"{address}/", context.new_page(): f"{address}/"}
    pages[context.new_page()] = f"file://{DIST}/index.html"
    for page, where in pages.items():
        page.goto(where)
    for page in pages:
        page.get_by_text(STUCK).wait_for(timeout=15_000)
    if browser:
        browser.close()


BAD = sorted(
    name
    for name, entry in json.loads((CORPORA / "bad" / "INDEX.json").read_text()).items()
    if entry["verdict"] == "refuse" and entry["format"] in ("network-json", "neat-python")
)


@pytest.mark.parametrize("name", BAD)
def test_hostile_files_are_refused_in_a_sentence(neat, name):
    data = (CORPORA / "bad" / name).read_bytes()
    assert neat.choose(name, data) == "error"
    told = neat.text("error")
    assert "Traceback" not in told
    assert "InternalError" not in told
    if "ran out of room" in told:  # then Pyodide said so on the console, and a new worker comes
        neat.complaints.clear()
    neat.wait_ready()


def test_a_browser_that_blocks_webassembly_is_told_so(new_context, address):
    context = new_context()
    page = context.new_page()
    block = "script-src 'self' 'wasm-unsafe-eval'"

    def without_wasm(route):
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace(block, "script-src 'self'"))

    page.route("**/", without_wasm)
    page.goto(f"{address}/")
    page.wait_for_selector("body[data-state=failed]")
    assert "WebAssembly" in page.get_by_test_id("error").inner_text()
