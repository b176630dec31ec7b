"""Two files at once: the difference of their genomes, and of what they compute."""

import copy
import json

from site_page import case, unfold

import neat_onnx


def test_two_networks_are_compared_gene_by_gene(neat):
    document = neat_onnx.load_network(case("np-ff-13")["source"]).to_document()
    parent = document.model_dump(mode="json")
    child = copy.deepcopy(parent)
    child["connections"][0]["weight"] += 0.5
    child["connections"][1]["enabled"] = False
    neat.given({"a.json": json.dumps(parent).encode(), "b.json": json.dumps(child).encode()})
    told = neat.text("difference")
    assert "Compared with b.json" in told
    assert "1 weight changed" in told
    assert "1 connection disabled" in told
    assert "apart" in told
    unfold(neat["difference"].get_by_text("1 weight changed"))
    gene = parent["connections"][0]
    source, target = gene["source"], gene["target"]
    assert f"{source} → {target}" in neat.text("difference")
    assert neat["difference"].locator("svg.plot .dots").get_attribute("d").count("M") > 100
    assert neat["side-by-side"].locator("figcaption").all_inner_texts() == ["a.json", "b.json"]
    toggle = neat.page.get_by_role("button", name="Differences")
    assert neat.page.locator("#graph canvas.dimmed").count() == 2  # but for what differs
    toggle.click()
    assert neat.page.locator("#graph canvas.dimmed").count() == 0


def test_a_network_and_its_model_are_the_same_but_for_rounding(neat):
    net = neat_onnx.load_network(case("nts-net-dag-24")["source"])
    model = neat_onnx.export(net)
    neat.given({"net.json": net.to_json().encode(), "net.onnx.json": model.to_json().encode()})
    assert "the same, gene by gene" in neat.text("difference")
    assert "the very same numbers" in neat.text("difference")
    neat.given({"net.json": net.to_json().encode(), "net.onnx": model.to_bytes()})
    assert "rounded to float32" in neat.text("difference")
    other = neat_onnx.Network.mlp([1, 1], seed=0)
    neat.given({"net.json": net.to_json().encode(), "other.json": other.to_json().encode()})
    assert "same numbers of inputs and outputs" in neat.text("difference")
    neat.given({"net.json": net.to_json().encode(), "bad.json": b"{}"})
    assert "could not be compared" in neat.text("difference")
    assert neat.text("verdict") == "passed"
    assert neat.choose("alone.json", net.to_json().encode()) == "done"
    assert neat["difference"].is_hidden()
