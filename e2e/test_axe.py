"""axe-core finds nothing in any state of the page, light or dark, narrow or wide."""

from collections.abc import Iterator

from site_page import ROOT, NeatPage, case, open_model, source_text

import neat_onnx

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
RUN = """async ([part, options]) =>
    (await axe.run(part, { resultTypes: ["violations"], preload: false, ...options })).violations
    .map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ target }) => target.join(" "))])"""
# All rules at 1440 px, where most is shown; at 320 those that depend on colours and sizes.
OF_LOOKS = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]
LOOKS = [("light", 320, {"runOnly": OF_LOOKS}), ("dark", 1440, {})]


def states(neat: NeatPage) -> Iterator[str]:
    """Bring the page from state to state, and name each."""
    page = neat.page
    page.evaluate(AXE.read_text() + "; undefined")
    if page.get_attribute("body", "data-job") == "none":
        yield "ready"
    assert neat.choose("open.onnx", open_model()) == "error"
    yield "a model that was refused, and the form of an import"
    assert neat.choose("timed.json", source_text("np-ctrnn-v21-3")) == "asking"
    yield "asking for times"
    net = neat_onnx.load_network(case("nts-net-gru-5")["source"])
    files = {"net.json": net.to_json().encode(), "net.onnx": neat_onnx.export(net).to_bytes()}
    assert neat.choose_all(files) == "done"
    neat["runtime-verdict"].wait_for(state="attached")
    neat.unfold_all()
    page.locator("#model-graph .node").first.wait_for()
    page.locator("figure .plot").first.wait_for()
    page.locator("#graph .frame").first.press("ArrowRight")
    neat["step-button"].click()
    yield "everything unfolded, a neuron looked at"
    wide = neat_onnx.Network.mlp([20, 400, 3], activation="tanh", seed=0)
    neat.choose("wide.json", wide.to_json().encode())
    assert "Levels" in neat["graph"].get_attribute("alt")
    yield "levels of a large network"
    neat["near"].fill("output 1")
    neat["near"].press("Enter")
    neat["near-neuron"].wait_for()
    for menu in ("#download-place", "#share-place", "#chip", "#files"):
        page.locator(menu).evaluate("(each) => { each.open = true; }")  # which closes the others
        yield menu
    page.keyboard.press("Escape")


def test_axe_finds_nothing(runtime_check, look):
    """One page for both looks, where the browser can change them; else each has its own."""
    looks = {scheme: {"color_scheme": scheme, "reduced_motion": "reduce"} for scheme, *_ in LOOKS}
    pages = dict.fromkeys(look(**wanted) for wanted in looks.values())
    order = LOOKS
    for reached in zip(*map(states, pages), strict=True):
        order = order[::-1]  # the look that there is comes first
        for scheme, width, options in order:
            neat = look(**looks[scheme])  # without transitions, which would have to end first
            neat.page.set_viewport_size({"width": width, "height": 900})
            neat.page.evaluate("() => scrollTo(0, 0)")
            part = reached[0] if reached[0].startswith("#") else "body"  # a menu alone
            assert neat.page.evaluate(RUN, [part, options]) == [], (reached[0], scheme, width)
