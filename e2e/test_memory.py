"""Networks with memory on the page: converted, exported as sequences, played with, timed."""

import re

import numpy as np
import pytest
from oracle import assert_right, assert_right_sequence
from site_page import case, source_text, unfold, write

import neat_onnx

LSTM, RECURRENT, TIMED = "nts-net-lstm-2", "np-rec-11", "np-ctrnn-v21-3"


def test_cells_and_gates_are_drawn_as_what_they_are(neat):
    neat.given_case(LSTM)
    legend = neat.page.locator(".legend")
    assert "layer: LSTM 2" in legend.inner_text()
    assert "multiplied by a gate" in legend.inner_text()
    assert "LSTM 2 of 8 neurons" in neat["graph"].get_attribute("aria-label")
    picture = neat.saved("save-svg")[1].decode()
    assert picture == neat_onnx.load_network(case(LSTM)["source"]).to_svg()


def test_it_plays_and_pauses_and_takes_random_inputs_and_a_text_of_all(neat):
    neat.given_case(LSTM)
    neat["step-reset"].click()
    neat["step-play"].click()
    neat["inputs"].get_by_text(re.compile(r"Step ([3-9]|\d\d+) of")).wait_for()
    neat["step-play"].click()
    neat["inputs"].get_by_role("button", name="Play", exact=True).wait_for()
    neat["step-random"].click()
    neat.page.wait_for_timeout(50)
    values = [neat[f"step-input-{place}"].input_value() for place in range(3)]
    assert all(-1 <= float(value) <= 1 for value in values)
    assert len(set(values)) > 1
    unfold(neat["inputs"].get_by_text("All inputs as one text"))
    neat["input-vector"].fill("[0.5; -2, 1e-1]")
    neat.page.wait_for_timeout(50)
    values = [neat[f"step-input-{place}"].input_value() for place in range(3)]
    assert values == ["0.5", "-2", "0.1"]


@pytest.mark.parametrize("name", [LSTM, RECURRENT])
def test_a_network_with_memory_is_converted_says_so_and_steps_as_cpython(neat, name):
    assert_converted(neat, name)
    assert_stepped(neat, name)


def assert_converted(neat, name: str) -> None:
    neat.given_case(name)
    assert neat.text("verdict") == "passed"
    assert "sequences of" in neat.text("verdict-words")
    net = neat_onnx.load_network(case(name)["source"])
    size = net.initial_state(1).shape[1]
    assert f"remembers: {size} values from one step to the next" in neat.text("network-summary")
    assert "reads an earlier step" in neat.page.locator(".legend").inner_text()
    model = neat.download("onnx")[1]
    assert model == neat_onnx.export(net).to_bytes()
    assert_right(model, name)


def assert_stepped(neat, name: str) -> None:
    """Steps taken on the page give what CPython computes."""
    neat["step-reset"].click()
    recorded = case(name)
    net = neat_onnx.load_network(recorded["source"])
    rows = recorded["inputs"][:3]
    give(neat, rows[0])
    for number, row in enumerate(rows[1:], start=2):
        neat["step-button"].click()
        give(neat, row)
        neat["inputs"].get_by_text(f"Step {number} of {number}", exact=True).wait_for()
    neat.page.wait_for_timeout(50)
    wanted = net.run(np.array(rows))
    shown = outputs(neat)
    assert [head for head, *_ in shown] == ["3", "2", "1"]
    np.testing.assert_allclose(np.array(shown, float)[::-1, 1:], wanted, rtol=1e-12, atol=1e-15)

    neat["step-scrub"].fill("1")  # back to the first step, with the inputs that it had
    neat["inputs"].get_by_text("Step 1 of 3", exact=True).wait_for()
    assert float(neat["step-input-0"].input_value()) == rows[0][0]
    neat["step-reset"].click()
    neat["inputs"].get_by_text("Step 1 of 1", exact=True).wait_for()
    again = np.array(outputs(neat), float)[0, 1:]
    np.testing.assert_allclose(again, wanted[0], rtol=1e-12, atol=1e-15)


def outputs(page) -> list[list[str]]:
    """The table of outputs, in full: a row's head, then its values."""
    rows = page["step-outputs"].locator("tbody tr").all()
    return [
        [row.locator("th").inner_text()]
        + [cell.get_attribute("title") for cell in row.locator("td").all()]
        for row in rows
    ]


def give(page, row: list[float]) -> None:
    for place, value in enumerate(row):
        write(page[f"step-input-{place}"], repr(value))


def test_the_sequence_option_gives_one_model_and_a_bad_file_leaves_the_player(neat):
    neat.given_case(RECURRENT)
    neat.page.locator("#option-sequence").check()
    assert neat.export_again() == "done"
    assert neat.text("verdict") == "passed"
    net = neat_onnx.load_network(case(RECURRENT)["source"])
    model = neat.download("onnx")[1]
    assert model == neat_onnx.export(net, sequence=True).to_bytes()
    assert_right_sequence(model, RECURRENT)

    neat.choose("bad.json", b"{}")
    assert neat["step-button"].is_visible()


def test_without_memory_there_are_no_steps_and_inputs_act_at_once(neat):
    neat.given_case("np-ff-13")
    assert not neat["step-play"].is_visible()
    recorded = case("np-ff-13")
    give(neat, recorded["inputs"][0])
    neat.page.wait_for_timeout(50)
    (shown,) = outputs(neat)
    np.testing.assert_allclose(np.array(shown[1:], float), recorded["outputs"][0], rtol=1e-12)
    assert "carries a positive value" in neat.page.locator(".legend").inner_text()
    for _ in range(5):
        neat["slide-input-0"].press("ArrowRight")
    neat.page.wait_for_timeout(50)
    moved = [float(neat["slide-input-0"].input_value()), *recorded["inputs"][0][1:]]
    assert moved[0] != recorded["inputs"][0][0]
    wanted = neat_onnx.load_network(recorded["source"]).activate(moved)
    np.testing.assert_allclose(np.array(outputs(neat)[0][1:], float), wanted, rtol=1e-12)


def test_a_neuron_is_looked_at_by_the_keyboard(neat):
    neat.given_case("np-ff-13")
    neat.page.locator(".frame").focus()
    for _ in range(24):  # as far as it goes: an output
        neat.page.keyboard.press("ArrowRight")
    neat["neuron"].get_by_text("Bias").wait_for()
    told = neat.text("neuron")
    assert "Activation" in told and "Bias" in told and "From" in told
    assert neat["neuron"].locator(".curve").is_visible()


def test_of_many_inputs_the_first_have_sliders_and_all_are_a_text(neat):
    wide = neat_onnx.Network.mlp([40, 3, 20], activation="tanh", seed=0)
    neat.choose("wide.json", wide.to_json().encode())
    assert "and 16 inputs more, in the text below" in neat.text("inputs") + neat.text("outputs")
    row = np.random.default_rng(0).normal(size=40)
    neat["input-vector"].fill(" ".join(map(repr, row.tolist())))
    neat.page.wait_for_timeout(50)
    np.testing.assert_allclose(
        np.array(outputs(neat)[0][1:], float), wide.activate(row)[:12], rtol=1e-12
    )
    neat["outputs"].get_by_text("and 8 outputs more").wait_for()


def test_two_inputs_have_a_surface(neat):
    net = neat_onnx.Network.mlp([2, 4, 1], activation="tanh", seed=0)
    neat.choose("xor.json", net.to_json().encode())
    neat["outputs"].get_by_text("both inputs from −1 to 1").wait_for()
    write(neat["step-input-0"], "0.25")
    neat.page.wait_for_timeout(50)
    shown = float(outputs(neat)[0][1])
    assert abs(shown - net.activate([0.25, 0.0])[0]) < 1e-12


def test_a_network_that_draws_is_shown_as_its_image(neat):
    net = neat_onnx.Network.mlp([3, 6, 3], activation="sin", seed=0)
    neat.choose("cppn.json", net.to_json().encode())
    neat["outputs"].get_by_text("input 3 is the distance from the middle").wait_for()
    copy = """(canvas) => {
        const pen = new OffscreenCanvas(96, 96).getContext("2d", { willReadFrequently: true });
        pen.drawImage(canvas, 0, 0);
        return [...pen.getImageData(95, 0, 1, 1).data];
    }"""
    x = 1 - 1 / 96  # the middle of the last point of the first row
    wanted = (net.activate([x, x, np.hypot(x, x)]) + 1) / 2 * 255
    np.testing.assert_allclose(neat["image"].evaluate(copy), [*wanted, 255], atol=1)


def test_a_network_of_continuous_time_asks_for_its_times(neat):
    assert neat.choose("net.json", source_text(TIMED)) == "asking"
    assert not neat["error"].is_visible()
    assert neat.page.evaluate("document.activeElement.name") == "time_step"
    turns = neat.turns()
    neat.page.keyboard.type("0.125")
    neat.page.keyboard.press("Tab")
    neat.page.keyboard.type("-1")
    convert = neat["facts-form"].get_by_role("button", name="Convert")
    convert.click()
    assert neat.turns() == turns  # the browser itself refuses a negative time

    write(neat.page.locator("#advance_time"), "1000000")
    convert.click()
    assert neat.outcome(turns) == "asking"
    assert "advance_time" in neat.text("error")

    write(neat.page.locator("#advance_time"), "0.5")
    assert neat.after(convert.click) == "done"
    assert not neat["error"].is_visible()
    net = neat_onnx.load_network(case(TIMED)["source"], time_step=0.125, advance_time=0.5)
    model = neat.download("onnx")[1]
    assert model == neat_onnx.export(net).to_bytes()
    assert_right(model, TIMED)

    turns = neat.turns()  # the times are kept when the options change
    neat["export-button"].click()
    assert neat.outcome(turns) == "done"
    assert neat.choose("other.json", source_text("np-ff-13")) == "done"
    assert not neat["facts-form"].is_visible()
