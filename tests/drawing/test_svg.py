"""Networks as SVG and HTML: what the picture holds."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from support.examples.cases import case

from neat_onnx.drawing.scene import FAMILIES, family
from neat_onnx.drawing.svg import small_multiples
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.network import Network


def circles(text: str) -> list[ET.Element]:
    return [each for each in ET.fromstring(text).iter() if each.tag.endswith("circle")]


def titles(text: str) -> list[str]:
    found = (each.find("{*}title") for each in circles(text))
    return [each.text or "" for each in found if each is not None]


@pytest.mark.parametrize(
    "name", ["np-ff-19", "np-rec-10", "nts-net-lstm-2", "nts-net-disabled-2", "nts-net-loop-5"]
)
def test_every_neuron_is_drawn_once_inside_the_picture(name):
    net = case(name).network()
    text = net.to_svg()
    assert text == net.to_svg()
    root = ET.fromstring(text)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert len(titles(text)) == len(net)
    drawing = next(each for each in root if "translate" in each.attrib.get("transform", ""))
    left, top = map(float, re.findall(r"[\d.]+", drawing.attrib["transform"]))
    for each in drawing.iter("{*}circle"):
        assert 0 < left + float(each.attrib["cx"]) < width
        assert 0 < top + float(each.attrib["cy"]) < height


def test_signs_memory_disabled_genes_gates_and_idle_neurons_are_in_the_legend():
    genes = [
        {"source": 1, "target": 3, "weight": 1.0},
        {"source": 1, "target": 4, "weight": -1.0, "gater": 3},
        {"source": 4, "target": 4, "weight": 0.5, "delay": 1},
        {"source": 1, "target": 5, "weight": 0.5},
        {"source": 3, "target": 4, "weight": 0.5, "enabled": False},
    ]
    net = Network.build(inputs=[1], outputs=[4], neurons=[3, 4, 5], connections=genes)
    text = net.to_svg()
    for words in ("positive weight", "negative weight", "reads an earlier step", "disabled",
                  "multiplied by a gate", "reaches no output"):  # fmt: skip
        assert words in text
    assert 'class="bar"' in text
    plain = Network.build(inputs=[1], outputs=[4], neurons=[4], connections=[(1, 4, 1.0)]).to_svg()
    assert "disabled" not in plain and "gate</" not in plain


def test_names_are_shown_and_escaped():
    net = Network.build(
        inputs=[1], outputs=[2], neurons=[{"id": 2, "name": "<b>&"}], connections=[(1, 2, 1.0)]
    )
    text = net.to_svg()
    assert "input 1" in text and "&lt;b&gt;&amp;" in text
    assert "&lt;b&gt;&amp;" in net._repr_html_()


def test_a_network_of_300_neurons_is_small_and_one_of_1000_shows_its_levels():
    rng = np.random.default_rng(0)

    def grown(size: int) -> Network:
        connections = [
            (int(source), target, float(rng.normal()))
            for target in range(8, size)
            for source in rng.choice(target, 3, replace=False)
        ]
        outputs = list(range(size - 4, size))
        return Network.build(
            inputs=list(range(8)), outputs=outputs, neurons=range(8, size), connections=connections
        )

    assert len(grown(300).to_svg()) <= 150_000
    levels = grown(1000).to_svg()
    assert "Levels of a network of 1000 neurons" in levels
    for path in ET.fromstring(levels).iter("{*}path"):
        heights = [float(n) for n in re.findall(r"c\S+ (-?[\d.]+) ", path.attrib["d"])]
        assert all(abs(height) * 0.75 <= 190 for height in heights)


def test_networks_of_a_population_stand_beside_each_other():
    nets = {f"genome {k}": Network.mlp([2, k, 1], seed=k) for k in range(1, 6)}
    text = small_multiples(nets)
    assert len(titles(text)) == sum(map(len, nets.values()))
    assert all(title in text for title in nets)


def test_a_picture_keeps_no_style_that_others_would_take():
    style = re.search(r"<style>(.*)</style>", Network.mlp([2, 2, 1]).to_svg())
    assert style
    rules = re.sub(r"@media[^{]*{", "", style[1])
    for selector in re.findall(r"([^{}]+){", rules):
        assert all(part.startswith(".neat-onnx ") for part in selector.split(","))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sigmoid", "sigmoid"), ("neat_tanh", "tanh"), ("softsign", "tanh"), ("gelu", "rectifier"),
        ("neat_gauss", "wave"), ("sin", "wave"), ("step", "step"), ("abs", "curve"),
        ("neat_inv", "curve"), ("complement", "linear"),
        ("formula: z * sigmoid(1.7 * z)", "rectifier"), ("formula: tanh(z) + 1", "sigmoid"),
    ],
)  # fmt: skip
def test_an_activation_has_the_family_of_its_shape(name, expected):
    assert family(name) == expected


def test_every_activation_has_a_family():
    assert {family(name) for name in ACTIVATIONS} == set(FAMILIES)
