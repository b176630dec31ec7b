"""The model seen: its graph beside the drawing, its JSON and its text, made when looked at."""

from site_page import unfold


def test_the_model_is_shown_and_lights_up_the_network(neat):
    neat.given_case("nts-net-dag-24")
    assert neat.page.locator(".nodes").count() == 0
    unfold(neat["model-graph"].locator("summary").first)
    nodes = neat["model-graph"].locator(".node")
    nodes.first.wait_for()
    assert "Gemm" in nodes.first.text_content()
    dimmed = neat.page.locator("canvas.dimmed")
    assert dimmed.count() == 0
    nodes.nth(1).hover()
    dimmed.wait_for()
    neat.page.mouse.move(0, 0)
    dimmed.wait_for(state="detached")
    neat.page.locator(".frame").press("ArrowRight")  # a neuron of the first layer behind the inputs
    neat.page.locator(".frame").press("ArrowRight")
    neat["model-graph"].locator(".node.lit").first.wait_for()
    unfold(neat["model-json"].locator("summary").first)
    assert "ir_version" in neat.text("model-json")
    unfold(neat["model-text"].locator("summary"))
    assert "Gemm" in neat.text("model-text")
