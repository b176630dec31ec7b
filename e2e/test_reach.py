"""The page for everyone: keyboard, narrow screens, the dark, no motion, assistive technology."""

import pytest
from site_page import SAMPLES, source_text


def focused(page) -> str:
    return page.evaluate(
        "document.activeElement.dataset.testid ?? document.activeElement.className"
    )


FOLD = """() => {
    for (const fold of document.querySelectorAll("details[open]")) fold.open = false;
}"""
# Where the next Tab starts from, as on a page that has just been loaded.
TO_THE_TOP = """() => {
    const place = document.createElement("span");
    place.tabIndex = -1;
    document.body.prepend(place);
    place.focus();
    place.remove();
}"""


ASKED = """() => {
    const asked = { times: 0 };
    document.getElementById("file").addEventListener("click", (event) => {
        event.preventDefault();
        asked.times += 1;
    }, { once: true });
    return asked;
}"""


def test_the_keyboard_alone_is_enough(neat, tmp_path):
    page = neat.page
    page.evaluate(TO_THE_TOP)
    page.keyboard.press("Tab")
    assert focused(page) == "skip"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert focused(page) == "drop-zone"
    turns = neat.turns()
    page.get_by_test_id("drop-zone").focus()
    path = tmp_path / "net.json"
    path.write_bytes(source_text("nap-net-perceptron-4"))
    page.on("filechooser", lambda _: None)  # Chromium opens its own until somebody listens
    turns = neat.turns()
    with page.expect_file_chooser() as waiting:
        page.keyboard.press("Enter")
    waiting.value.set_files(path)
    assert neat.outcome(turns) == "done"
    asked = page.evaluate_handle(ASKED)  # not another picker: in Firefox the first one stays open
    page.get_by_test_id("drop-zone").focus()
    page.keyboard.press("Space")
    assert page.evaluate("(asked) => asked.times", asked) == 1

    page.evaluate(FOLD)  # what the tests before have unfolded
    page.get_by_test_id("drop-zone").focus()
    parts = {"share-menu", "download-menu", "step-input-0", "slide-input-0", "step-random", "frame"}
    assert tabbed(page, "export-button") >= parts
    neat["download-menu"].focus()
    page.keyboard.press("Enter")
    reached = tabbed(page, "download-network")
    scrolls = {"panel right"}  # where Firefox stops, too
    assert reached - scrolls == {"download-onnx", "download-json", "download-network"}
    page.keyboard.press("Escape")
    assert focused(page) == "download-menu"
    assert not neat["download-onnx"].is_visible()


def tabbed(page, last: str) -> set[str]:
    """What Tab leads to, up to the last; in Firefox it would lead out of the page after that."""
    reached: set[str] = set()
    for _ in range(90):
        page.keyboard.press("Tab")
        reached.add(focused(page))
        if last in reached:
            break
    return reached


def test_questions_and_errors_do_not_scroll_sideways(neat):
    assert neat.choose("timed.json", source_text("np-ctrnn-v21-3")) == "asking"
    neat.assert_fits()
    neat.choose(f"{'long' * 30}.json", b'{"nodes": [}')
    neat.assert_fits()


TEXTS = [
    *("#chip summary", "#summary dt", "#summary dd", ".status", "#drop", ".legend button"),
    *("#output-panel th", "#output-panel td", "#input-panel label", "[data-testid=download-menu]"),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(look, scheme):
    neat = look(color_scheme=scheme, reduced_motion="reduce")  # or transitions would have to end
    neat.given_case(SAMPLES["neataptic"])
    neat.page.wait_for_selector("#output-panel tbody td")
    for selector in TEXTS:
        assert contrast(neat.page, selector) >= 4.5, selector


def contrast(page, selector: str) -> float:
    """WCAG's contrast ratio of an element's text to what it stands on."""
    return page.evaluate(
        """(selector) => {
            const parse = (text) => text.match(/[\\d.]+/g).map(Number);
            let element = document.querySelector(selector);
            const text = parse(getComputedStyle(element).color);
            let back = [0, 0, 0, 0];
            for (; element && (back[3] ?? 1) === 0; element = element.parentElement) {
                back = parse(getComputedStyle(element).backgroundColor);
            }
            const light = (rgb) => rgb.slice(0, 3).map((value) => value / 255)
                .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
                .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
            const [a, b] = [light(text), light(back)].sort((x, y) => y - x);
            return (a + 0.05) / (b + 0.05);
        }""",
        selector,
    )


def test_outcomes_are_announced(neat):
    live = neat.page.locator(".verdict-place[aria-live=polite]")
    neat.given_case(SAMPLES["neataptic"])
    assert "passed" in live.inner_text() and "Equal" in live.inner_text()
    assert neat.page.locator(".status[role=status]").inner_text().strip() == "ready"
    assert neat["error"].get_attribute("role") == "alert"
    assert neat["graph"].get_attribute("aria-label")


def test_no_motion_for_those_who_asked_for_none(look):
    neat = look(reduced_motion="reduce")
    seconds = "getComputedStyle(document.getElementById('drop')).transitionDuration"
    assert neat.page.evaluate(seconds) == "0s"


def pixels(page) -> set[tuple[int, int, int]]:
    """The opaque colours of the drawing."""
    found = page.evaluate(
        """() => {
            const canvas = document.querySelector(".frame canvas");
            const copy = new OffscreenCanvas(canvas.width, canvas.height);
            const pen = copy.getContext("2d", { willReadFrequently: true });
            pen.drawImage(canvas, 0, 0);
            const { data } = pen.getImageData(0, 0, copy.width, copy.height);
            const colours = new Set();
            for (let at = 0; at < data.length; at += 4) {
                if (data[at + 3] === 255) colours.add(data.slice(at, at + 3).join());
            }
            return [...colours];
        }"""
    )
    return {tuple(map(int, colour.split(","))) for colour in found}


def background(page, selector: str) -> str:
    return page.evaluate(f"getComputedStyle(document.querySelector('{selector}')).backgroundColor")


def test_forced_colours_keep_the_drawing_and_its_legend(look):
    neat = look(forced_colors="active", color_scheme="dark")
    page = neat.page
    neat.given_case("nts-net-dag-24")
    page.wait_for_timeout(100)
    assert (255, 255, 255) in pixels(page)  # what is ink, on black
    assert "negative weight" in page.locator(".legend").inner_text()
    negative = page.locator(".legend .stroke.negative")
    mark = "(mark) => getComputedStyle(mark, '::after').borderLeftWidth"
    assert negative.evaluate(mark) == "2px"  # the bar that says negative without a colour
    swatch = page.locator(".legend .tint-sigmoid")
    assert swatch.evaluate("(mark) => getComputedStyle(mark).forcedColorAdjust") == "none"


@pytest.mark.chromium("no command emulates print")
def test_print_keeps_the_drawing_and_its_legend(look):
    neat = look(color_scheme="dark", media="print")
    page = neat.page
    neat.given_case("nts-net-dag-24")
    page.wait_for_timeout(100)
    assert background(page, ".stage") == "rgb(255, 255, 255)"  # paper, whatever the screen is
    assert (25, 24, 20) in pixels(page)  # ink
    assert page.locator(".legend").is_visible()
    assert not page.locator("#options").is_visible()
