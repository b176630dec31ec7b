"""The workbench: genes changed, generations, sequences of inputs, filters, ways back."""

import base64
import json
import re

import numpy as np
from site_page import ROOT, NeatPage, case, source_text, write

import neat_onnx
from neat_onnx.page.editing import edited

RECORDED = json.loads((ROOT / "tests/libraries/neat_python/recorded.json").read_text())
CHECKPOINT = next(
    base64.b64decode(each["file"])
    for each in RECORDED["cases"]
    if each["name"] == "checkpoint-population-2.0.0"
)


def output(neat: NeatPage) -> float:
    neat.page.wait_for_timeout(60)
    cell = neat["step-outputs"].locator("tbody td").first
    return float(cell.get_attribute("title"))


def test_xor_lives_before_python_is_there(new_context, address):
    page = new_context().new_page()
    page.route("**/pyodide/**", lambda route: route.abort())
    page.goto(f"{address}/")
    page.wait_for_selector("#living[data-alive] canvas")
    assert page.locator("#living .surface").is_visible()
    assert page.evaluate("performance.now()") < 10_000


def test_a_gene_is_changed_and_everything_follows(neat):
    name = "np-ff-13"
    net = neat_onnx.load_network(case(name)["source"])
    neat.choose(f"{name}.json", source_text(name))
    place = int(net.output_neurons[0])
    edge = int(np.flatnonzero(net.connections.target == place)[0])
    neat["step-random"].click()
    before = output(neat)
    x = [float(neat[f"step-input-{k}"].input_value()) for k in range(len(net.input_neurons))]
    for _ in range(24):
        neat.page.locator("#graph .frame").press("ArrowRight")
    while neat[f"edit-weight-{edge}"].count() == 0:
        neat.page.locator("#graph .frame").press("ArrowDown")
    turns = neat.turns()
    write(neat[f"edit-weight-{edge}"], "0.75")
    at_once = output(neat)  # before the engine knows of it
    neat[f"edit-weight-{edge}"].press("Enter")
    assert neat.outcome(turns) == "done"
    changed = edited(net, [{"connection": edge, "weight": 0.75}])
    np.testing.assert_allclose(at_once, changed.activate(x)[0], rtol=1e-12)
    assert neat.text("verdict") == "passed"
    assert output(neat) == at_once
    assert neat.download("onnx")[1] == neat_onnx.export(changed).to_bytes()
    assert "weight" in neat.text("changes") and "0.75" in neat.text("changes")
    assert neat.after(neat["undo"].click) == "done"
    assert neat["changes"].is_hidden()
    assert output(neat) == before
    assert neat.download("onnx")[1] == neat_onnx.export(net).to_bytes()


def test_checkpoints_are_a_timeline_in_the_order_of_their_numbers(neat):
    names = [f"neat-checkpoint-{number}" for number in (100, 9, 20)]
    assert neat.choose_all(dict.fromkeys(names, CHECKPOINT)) == "done"
    steps = neat["generations"].locator(".step")
    assert steps.all_inner_texts() == ["9", "20", "100"]
    assert steps.last.get_attribute("aria-pressed") == "true"
    neat.page.wait_for_selector(".step[title*='best of']")
    assert neat.after(steps.first.click) == "done"
    assert neat.page.locator("#file-name").inner_text() == "neat-checkpoint-9"
    assert neat.text("verdict") == "passed"
    assert neat.choose("one.json", source_text("np-ff-13")) == "done"
    assert neat["generations"].is_hidden()


def test_what_is_near_a_neuron_of_a_large_network_is_drawn_and_can_be_changed(neat):
    net = neat_onnx.Network.mlp([20, 400, 3], activation="tanh", seed=0)
    assert neat.choose("wide.json", net.to_json().encode()) == "done"
    assert "Levels" in neat["graph"].get_attribute("alt")
    neat["near"].fill("nobody")
    neat["near"].press("Enter")
    neat["notice"].get_by_text("no neuron called 'nobody'").wait_for()
    neat["near"].fill("output 2")
    neat["near"].press("Enter")
    neat["near-neuron"].get_by_text("What is near output 2: 60 neurons").wait_for()
    place = int(net.output_neurons[1])
    assert f"Neuron {net.neurons.id[place]}" in neat.text("neuron")
    turns = neat.turns()
    write(neat["edit-bias"], "0.25")
    neat["edit-bias"].press("Enter")
    assert neat.outcome(turns) == "done"
    assert neat["near-neuron"].is_visible()  # an edit leaves the view
    changed = edited(net, [{"neuron": place, "bias": 0.25}])
    assert neat.download("onnx")[1] == neat_onnx.export(changed).to_bytes()
    for _ in range(2):
        neat.page.locator("#graph .frame").press("ArrowLeft")
    neat["near-it"].click()
    neat["near-neuron"].get_by_text("What is near").wait_for()
    neat["near-neuron"].get_by_role("button").click()
    neat["near"].wait_for()


def test_generations_and_steps_are_saved_as_an_animation(neat):
    names = [f"neat-checkpoint-{number}" for number in (9, 15, 20)]
    assert neat.choose_all(dict.fromkeys(names, CHECKPOINT)) == "done"
    assert animation(neat) == ("neat-checkpoint-20.webp", 3 + 2 * 4)  # and on the way
    neat.given_case("np-ff-13")
    assert animation(neat) == ("np-ff-13.webp", 24)


def animation(neat: NeatPage) -> tuple[str, int]:
    """The name of a saved animation that the browser can show, and its number of frames."""
    name, data = neat.saved("save-animation")
    size = """async (data) => {
        const image = new Image();
        image.src = `data:image/webp;base64,${data}`;
        await image.decode();
        return [image.naturalWidth, image.naturalHeight];
    }"""
    width, height = neat.page.evaluate(size, base64.b64encode(data).decode())
    box = neat.page.locator("#graph .frame").bounding_box()
    assert abs(width - box["width"]) < 1 and height > 100
    assert (data[:4], data[8:16]) == (b"RIFF", b"WEBPVP8X")
    return name, data.count(b"ANMF")


def test_rows_and_waves_are_sequences_that_play(neat):
    neat.choose("net.json", source_text("nap-net-perceptron-4"))
    net = neat_onnx.load_network(case("nap-net-perceptron-4")["source"])
    rows = np.linspace(-1, 1, 3 * len(net.input_neurons)).reshape(3, -1)
    neat.page.locator("#input-panel summary").click()
    neat["input-vector"].fill("\n".join(",".join(map(repr, row.tolist())) for row in rows))
    for row in rows:
        np.testing.assert_allclose(output(neat), net.activate(row)[0], rtol=1e-12)
        neat["step-button"].click()
    assert neat["sequence"].input_value() == "rows"
    neat["sequence"].select_option("sine")
    neat["step-play"].click()
    neat["inputs"].get_by_text(re.compile("Step [3-9] of")).wait_for()
    neat["step-play"].click()
    neat["sequence"].select_option("")
    assert neat["step-play"].is_hidden()


def test_a_click_in_the_legend_hides_its_connections(neat):
    neat.given_case("nts-net-dag-24")
    negative = neat.page.locator(".legend button", has_text="negative")
    negative.click()
    assert negative.get_attribute("aria-pressed") == "false"
    negative.click()
    assert negative.get_attribute("aria-pressed") == "true"


def test_the_wordmark_leads_home_and_back_leads_back(neat):
    neat.choose("nap-net-perceptron-4.json", source_text("nap-net-perceptron-4"))
    neat.page.wait_for_url("**name=nap-net-perceptron-4*")
    neat.page.locator("#home").click()
    assert neat.page.locator("#intro").is_visible() and neat["verdict"].is_hidden()
    assert neat.after(neat.page.go_back) == "done"
    assert neat.text("verdict") == "passed"


def test_recent_files_are_kept_on_request_and_cleared(neat):
    neat.choose("first.json", source_text("nap-net-perceptron-4"))
    neat.page.locator("#files summary").click()
    neat.page.locator("#keep-recent").check()
    neat.choose("second.json", source_text("np-ff-13"))
    entry = neat.page.locator("#files-panel .entry")
    entry.get_by_text("second.json").wait_for(state="attached")
    neat.page.locator("#files summary").click()
    neat.page.get_by_role("button", name="Clear").click()
    assert entry.count() == 0
    neat.page.locator("#keep-recent").uncheck()
    assert neat.page.evaluate("localStorage.getItem('neat_onnx recent')") is None
    neat.page.keyboard.press("Escape")


def test_a_loss_that_was_asked_for_is_no_failure(neat):
    neat.choose("net.json", source_text("nts-net-mlp-3"))
    turns = neat.turns()
    neat.unfold_all()
    neat.page.locator("#option-quantize").select_option("weights")
    neat["export-button"].click()
    assert neat.outcome(turns) == "done"
    words = neat.page.locator("#chip summary").inner_text()
    assert "as asked: int8" in words or "Equal" in words
