"""A bad file says what is wrong and where, and the page goes on working."""

import json

import pytest
from site_page import CORPORA, source_text


def test_a_bad_file_then_a_good_one(neat):
    assert neat.choose("broken.json", b'{"nodes": [}') == "error"
    told = neat.text("error")
    assert "broken.json" in told
    assert "Invalid JSON" in told
    assert "line 1, column 12" in told
    assert not neat["verdict"].is_visible()
    assert neat.text("status") == "ready"

    assert neat.choose("good.json", source_text("np-ff-19")) == "done"
    assert neat.text("verdict") == "passed"
    assert not neat["error"].is_visible()


def test_a_good_file_then_a_bad_one_leaves_no_old_answer(neat):
    assert neat.choose("good.json", source_text("np-ff-19")) == "done"
    assert neat.choose("bad.json", b"{}") == "error"
    for name in ("verdict", "mse", "download-onnx", "network-summary"):
        assert not neat[name].is_visible()


BAD = sorted(
    name
    for name, entry in json.loads((CORPORA / "bad" / "INDEX.json").read_text()).items()
    if entry["verdict"] == "refuse" and entry["format"] in ("network-json", "neat-python")
)


@pytest.mark.parametrize("name", BAD)
def test_hostile_files_are_refused_in_a_sentence(shared, name):
    data = (CORPORA / "bad" / name).read_bytes()
    assert shared.choose(name, data) == "error"
    told = shared.text("error")
    assert "Traceback" not in told
    assert "InternalError" not in told
    if "ran out of room" in told:  # then Pyodide said so on the console, and a new worker comes
        shared.complaints.clear()
    shared.wait_ready()


def test_a_browser_that_blocks_webassembly_is_told_so(browser, address):
    context = browser.new_context()
    page = context.new_page()
    block = "script-src 'self' 'wasm-unsafe-eval'"

    def without_wasm(route):
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace(block, "script-src 'self'"))

    page.route("**/", without_wasm)
    page.goto(f"{address}/")
    page.wait_for_selector("body[data-state=failed]")
    assert "WebAssembly" in page.get_by_test_id("error").inner_text()
    context.close()


def test_a_package_that_does_not_arrive_is_a_failure_with_a_way_on(browser, address):
    context = browser.new_context()
    page = context.new_page()
    context.route("**/packages/numpy*", lambda route: route.abort())
    page.goto(f"{address}/")
    page.wait_for_selector("body[data-state=failed]", timeout=60_000)
    context.unroute("**/packages/numpy*")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector("body[data-state=ready]", timeout=60_000)
    assert not page.get_by_test_id("error").is_visible()
    context.close()
