"""Addresses that bring a conversion back, and pictures of the drawing."""

import json

from site_page import NeatPage, case, source_text

import neat_onnx


def opened(context, url: str) -> NeatPage:
    """A new page at an address, its conversion done."""
    neat = NeatPage(context.new_page(), url)
    assert neat.outcome(0) == "done"
    return neat


def link(neat: NeatPage) -> str:
    neat.page.wait_for_url("**/#*")
    return neat.page.evaluate("location.href")


def test_a_link_opens_the_same_genome_in_a_fresh_browser(neat, new_context):
    neat.choose("winner.json", source_text("nts-net-dag-24"))
    neat.page.locator("#option-dtype").select_option("float64")
    turns = neat.turns()
    neat["export-button"].click()
    assert neat.outcome(turns) == "done"
    neat.page.wait_for_url("**options=*")
    other = opened(new_context(), link(neat))
    net = neat_onnx.load_network(case("nts-net-dag-24")["source"])
    assert other.download("network") == ("winner.network.json", net.to_json().encode())
    assert other.download("onnx")[1] == neat_onnx.export(net, dtype="float64").to_bytes()
    assert other.page.locator("#option-dtype").input_value() == "float64"


def test_back_and_forward_bring_everything_back(neat):
    for name in ("np-ff-19", "nts-net-dag-24"):
        neat.choose(f"{name}.json", source_text(name))
        neat.page.wait_for_url(f"**name={name}*")
    turns = neat.turns()
    neat.page.go_back()
    assert neat.outcome(turns) == "done"
    assert neat.download("onnx")[0] == "np-ff-19.onnx"
    neat.page.go_forward()
    assert neat.outcome(turns + 1) == "done"
    assert neat.download("onnx")[0] == "nts-net-dag-24.onnx"


def test_a_sample_has_a_short_link(neat):
    for sample in ("neat-python", "sharpneat"):
        assert neat.follow(f"#sample={sample}") == "done"
        assert neat.download("onnx")[0] == f"{sample}.onnx"


def test_a_link_of_two_files_compares_them_again(neat):
    first, second = (
        neat_onnx.load_network(case(name)["source"]) for name in ("np-ff-19", "np-ff-24")
    )
    files = {"one.json": first.to_json(), "two.json": second.to_json()}
    uploads = [
        {"name": name, "mimeType": "", "buffer": text.encode()} for name, text in files.items()
    ]
    turns = neat.turns()
    neat["file-input"].set_input_files(files=uploads)
    assert neat.outcome(turns) == "done"
    both, seen = link(neat), neat.text("difference")
    assert "Compared with two.json" in seen
    assert neat.choose("alone.json", first.to_json().encode()) == "done"
    assert neat.follow(both) == "done"
    assert neat.text("difference") == seen
    assert neat.download("network") == ("one.network.json", first.to_json().encode())


def test_a_broken_link_is_told(context, address):
    neat = NeatPage(context.new_page(), f"{address}/#net=!!!")
    assert neat.outcome(0) == "error"
    assert not neat["verdict"].is_visible()
    for broken in ("#net=AAAA&name=x.json", "#sample=none-such"):
        assert neat.follow(broken) == "error"
    neat.page.close()


def test_what_is_too_large_for_a_link_is_told(neat):
    wide = neat_onnx.Network.mlp([80, 80, 1], activation="tanh", seed=0)
    neat.choose("wide.json", wide.to_json().encode())
    neat["copy-link"].click()
    neat.page.get_by_text("too large for a link").wait_for()
    assert "#" not in neat.page.url


def test_pictures_are_saved(neat):
    neat.choose("net.json", json.dumps(case("np-ff-19")["source"]).encode())
    for kind, begin in (("svg", b"<svg "), ("png", b"\x89PNG")):
        name, data = neat.saved(f"save-{kind}")
        assert name == f"net.{kind}"
        assert data.startswith(begin)
