"""axe-core finds nothing in any state of the page, light or dark, narrow or wide."""

import pytest
from site_page import ROOT, case, source_text

import neat_onnx

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
RUN = """async () => (await axe.run({ resultTypes: ["violations"] })).violations
    .map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ target }) => target.join(" "))])"""
LOOKS = [("light", 320), ("dark", 1440)]


def assert_clean(neat, state: str) -> None:
    neat.page.evaluate("() => scrollTo(0, 0)")
    neat.page.wait_for_timeout(350)  # transitions end
    assert neat.page.evaluate(RUN) == [], state


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_axe_finds_nothing(second_opinion, look, scheme, width):
    neat = look(color_scheme=scheme)
    page = neat.page
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate(AXE.read_text() + "; undefined")
    if page.get_attribute("body", "data-job") == "none":
        assert_clean(neat, "ready")
    neat.choose("bad.json", b'{"nodes": [}')
    assert_clean(neat, "error")
    assert neat.choose("timed.json", source_text("np-ctrnn-v21-3")) == "asking"
    assert_clean(neat, "asking for times")
    net = neat_onnx.load_network(case("nts-net-lstm-2")["source"])
    files = {"net.json": net.to_json().encode(), "net.onnx": neat_onnx.export(net).to_bytes()}
    turns = neat.turns()
    uploads = [{"name": name, "mimeType": "", "buffer": data} for name, data in files.items()]
    neat["file-input"].set_input_files(files=uploads)
    assert neat.outcome(turns) == "done"
    neat["second-verdict"].wait_for()
    assert_clean(neat, "two files with memory")
    for summary in page.locator("#result summary").all():
        if summary.is_visible():
            summary.click()
    page.locator("#anatomy .node").first.wait_for()
    page.locator("figure .plot").first.wait_for()
    page.locator(".frame").press("ArrowRight")
    neat["step-button"].click()
    assert_clean(neat, "everything unfolded, a neuron looked at")
    wide = neat_onnx.Network.mlp([20, 400, 3], activation="tanh", seed=0)
    neat.choose("wide.json", wide.to_json().encode())
    assert_clean(neat, "layers of a large network")
