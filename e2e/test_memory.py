"""Networks with memory on the page: converted, exported as sequences, stepped through, timed."""

import numpy as np
import pytest
from oracle import assert_right, assert_right_sequence
from site_page import case, source_text

import neat_onnx

LSTM, RECURRENT, TIMED = "nts-net-lstm-2", "np-rec-10", "np-ctrnn-v21-3"


@pytest.mark.parametrize("name", [LSTM, RECURRENT])
def test_a_network_with_memory_is_converted_and_says_so(shared, name):
    assert shared.choose(f"{name}.json", source_text(name)) == "done"
    assert shared.text("verdict") == "passed"
    assert "256 sequences of 16 steps" in shared.page.locator("#verdict .lead").inner_text()
    net = neat_onnx.load_network(case(name)["source"])
    size = net.initial_state(1).shape[1]
    assert f"remembers: {size} values from one step to the next" in shared.text("network-summary")
    assert "reads an earlier step" in shared.page.locator(".legend").inner_text()
    model = shared.download("onnx")[1]
    assert model == neat_onnx.export(net).to_bytes()
    assert_right(model, name)


def test_the_sequence_option_gives_one_model_of_whole_sequences(shared):
    shared.choose("net.json", source_text(RECURRENT))
    turns = shared.turns()
    shared.page.locator("#option-sequence").check()
    shared["export-button"].click()
    assert shared.outcome(turns) == "done"
    shared.page.get_by_role("button", name="Defaults").click()
    assert shared.text("verdict") == "passed"
    net = neat_onnx.load_network(case(RECURRENT)["source"])
    model = shared.download("onnx")[1]
    assert model == neat_onnx.export(net, sequence=True).to_bytes()
    assert_right_sequence(model, RECURRENT)


def cells(page, name: str) -> list[list[str]]:
    """What a table of the stepper holds, in full: a row's head, then its values."""
    rows = page[name].locator("tbody tr").all()
    return [
        [row.locator("th").inner_text()]
        + [cell.get_attribute("title") for cell in row.locator("td").all()]
        for row in rows
    ]


def step(page, row: list[float], number: int) -> None:
    for place, value in enumerate(row):
        page[f"step-input-{place}"].fill(repr(value))
    page["step-button"].click()
    page["stepper"].get_by_text(f"After step {number}", exact=True).wait_for()


@pytest.mark.parametrize("name", [LSTM, RECURRENT, "np-ff-19"])
def test_stepping_is_what_cpython_computes(shared, name):
    shared.choose("net.json", source_text(name))
    recorded = case(name)
    net = neat_onnx.load_network(recorded["source"])
    rows = recorded["inputs"][:3]
    for number, row in enumerate(rows, start=1):
        step(shared, row, number)
    wanted = net.run(np.array(rows))
    shown = cells(shared, "step-outputs")
    assert [head for head, *_ in shown] == ["3", "2", "1"]
    np.testing.assert_allclose(np.array(shown, float)[::-1, 1:], wanted, rtol=1e-12, atol=1e-15)
    if net.has_memory:
        state = net.initial_state(1)
        for row in rows:
            before, (_, state) = state, net.step([row], state)
        values = np.array(cells(shared, "step-state"), float)[:, 1:].T
        np.testing.assert_allclose(values, np.concatenate([before, state]), rtol=1e-12, atol=1e-15)
    else:
        assert "remembers nothing" in shared.text("stepper")

    shared["step-reset"].click()
    step(shared, rows[0], 1)
    again = np.array(cells(shared, "step-outputs"), float)[0, 1:]
    np.testing.assert_array_equal(again, np.array(shown, float)[-1, 1:])


def test_random_inputs_and_the_keyboard_step_too(shared):
    shared.choose("net.json", source_text(LSTM))
    shared["step-random"].click()
    values = [shared[f"step-input-{place}"].input_value() for place in range(3)]
    assert all(-1 <= float(value) <= 1 for value in values)
    assert len(set(values)) > 1
    shared["step-input-0"].press("Enter")
    shared["stepper"].get_by_text("After step 1", exact=True).wait_for()


def test_of_many_inputs_there_are_no_fields(shared):
    wide = neat_onnx.Network.mlp([40, 3, 20], activation="tanh", seed=0)
    shared.choose("wide.json", wide.to_json().encode())
    assert "40 inputs: each step gets random ones." in shared.text("stepper")
    shared["step-button"].click()
    shared["stepper"].get_by_text("After step 1", exact=True).wait_for()
    assert "and 4 outputs more" in shared.text("stepper")


def test_a_bad_file_takes_the_stepper_away(shared):
    shared.choose("net.json", source_text(LSTM))
    assert shared["stepper"].is_visible()
    shared.choose("bad.json", b"{}")
    assert not shared["stepper"].is_visible()


def test_a_network_of_continuous_time_asks_for_its_times(shared):
    assert shared.choose("net.json", source_text(TIMED)) == "asking"
    assert not shared["error"].is_visible()
    assert shared.page.evaluate("document.activeElement.name") == "time_step"
    turns = shared.turns()
    shared.page.keyboard.type("0.125")
    shared.page.keyboard.press("Tab")
    shared.page.keyboard.type("-1")
    convert = shared["time-form"].get_by_role("button", name="Convert")
    convert.click()
    assert shared.turns() == turns  # the browser itself refuses a negative time

    shared.page.locator("#advance_time").fill("1000000")
    convert.click()
    assert shared.outcome(turns) == "asking"
    assert "advance_time" in shared.text("error")

    shared.page.locator("#advance_time").fill("0.5")
    turns = shared.turns()
    convert.click()
    assert shared.outcome(turns) == "done"
    assert not shared["error"].is_visible()
    net = neat_onnx.load_network(case(TIMED)["source"], time_step=0.125, advance_time=0.5)
    model = shared.download("onnx")[1]
    assert model == neat_onnx.export(net).to_bytes()
    assert_right(model, TIMED)

    turns = shared.turns()  # the times are kept when the options change
    shared["export-button"].click()
    assert shared.outcome(turns) == "done"
    assert shared.choose("other.json", source_text("np-ff-19")) == "done"
    assert not shared["time-form"].is_visible()
