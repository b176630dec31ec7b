"""The plan that the page computes by, run by its own JavaScript, against Network.run."""

import base64
import json
import subprocess
import warnings
from pathlib import Path

import numpy as np
from support.examples.cases import cases

import neat_onnx
from neat_onnx.network.aggregations import AGGREGATIONS
from neat_onnx.network.evaluate import evaluate
from neat_onnx.network.expression import (
    REDUCING,
    SIGNATURES,
    TRUTHS,
    VARIABLE,
    Expression,
    constant,
)
from neat_onnx.page.plan import plan_of

HERE = Path(__file__).absolute().parent
STEPS = 24
TINY, LARGE = 5e-324, 1.7976931348623157e308  # the smallest and the largest double
EXTREMES = [np.nan, np.inf, -np.inf, 0.0, -0.0, TINY, -TINY, 1e-310, LARGE, -LARGE, 1.0, -1.0]
SAFE = [x for x in EXTREMES if abs(x) != LARGE]  # whose sums overflow in no order
POINTS = [*EXTREMES, -745, -30, -7, -2.75, -2.5, -1.5, -0.5, 1e-9, 0.25, 0.5, 1.5, 2.5, 3, 40, 710]
UNSIGNED = {"maximum", "minimum", "elu", "selu"}  # NumPy leaves the sign of a zero of theirs open
TIMES = {"np-ctrnn": {"time_step": 0.125}, "np-iznn": {"time_step": 0.5}}


def networks() -> dict[str, neat_onnx.Network]:
    found = {}
    for case in cases("nts-net", "nap-net", "np"):
        times = next((time for group, time in TIMES.items() if case.group.startswith(group)), {})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", neat_onnx.NeatOnnxWarning)
            found[case.name] = neat_onnx.load_network(case.source, **times)
    return found


def job(net: neat_onnx.Network, rows: np.ndarray) -> dict:
    document, arrays = plan_of(net)
    packed = {name: base64.b64encode(data).decode() for name, data in arrays.items()}
    texts = [[shown(x) for x in row] for row in rows.tolist()]
    return {"document": document, "arrays": packed, "rows": texts}


def shown(number: float) -> str:
    """A number as JavaScript reads it; JSON has no infinities."""
    return repr(float(number)).replace("inf", "Infinity")


def run_in_node(cases: list[dict]) -> list[np.ndarray]:
    lines = "\n".join(json.dumps(case) for case in cases)
    command = ["node", str(HERE / "run_plans.mjs")]
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, check=True, text=True)
    return [
        np.array([[float(value.replace("Infinity", "inf")) for value in row] for row in rows])
        for rows in map(json.loads, done.stdout.splitlines())
    ]


def test_every_recorded_network_computes_in_javascript_what_it_computes_here():
    nets = networks()
    assert len(nets) > 130
    rng = np.random.default_rng(0)
    cases, wanted = [], []
    for net in nets.values():
        size = (STEPS, len(net.input_neurons))
        rows = np.concatenate([rng.normal(size=size), rng.choice(SAFE, size)])
        cases.append(job(net, rows))
        with np.errstate(all="ignore"):
            wanted.append(net.run(rows) if net.has_memory else net.run(rows[:, None])[:, 0])
    for name, got, want in zip(nets, run_in_node(cases), wanted, strict=True):
        finite = np.isfinite(want)
        np.testing.assert_array_equal(got[~finite], want[~finite], err_msg=name)
        error = np.abs(got[finite] - want[finite]) / np.maximum(1, np.abs(want[finite]))
        assert error.max(initial=0) <= 1e-12, (name, error.max())


def aggregating(name: str, inputs: int) -> neat_onnx.Network:
    """A neuron that aggregates so many of five inputs."""
    neuron = {"id": 9, "activation": "identity", "bias": 0.25, "response": 0.5, "aggregation": name}
    connections = [(i, 9, 0.5 - i) for i in range(inputs)]
    return neat_onnx.Network.build(inputs=5, outputs=[9], neurons=[neuron], connections=connections)


def test_every_aggregation_of_any_number_of_inputs():
    names = [(name, k) for name in sorted(AGGREGATIONS) for k in (0, 1, 2, 5)]
    nets = [aggregating(*name) for name in names]
    rng = np.random.default_rng(0)
    some = np.where(
        rng.random((60, 5)) < 0.5, rng.normal(size=(60, 5)), rng.choice(EXTREMES, (60, 5))
    )
    rows = np.concatenate([rng.normal(size=(8, 5)), some, rng.choice(EXTREMES, (60, 5))])
    for name, net, got in zip(
        names, nets, run_in_node([job(net, rows) for net in nets]), strict=True
    ):
        with np.errstate(all="ignore"):
            want = evaluate(net, rows)
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-15, err_msg=str(name))


def samples(letter: str) -> list:
    """Arguments of a primitive: numbers or truth values."""
    return ["z", ["sub", 0.5, "z"]] if letter == "n" else [["greater", "z", 0.25], ["less", "z", 1]]


def trees_of(name: str, signature: str) -> list[list]:
    """A primitive of a variable, and one of two numbers also of it and each extreme."""
    constants = iter((0.3, 1.7))
    args = [
        next(constants) if c == "c" else samples(c)[place % 2] for place, c in enumerate(signature)
    ]
    trees = [[name, *args]]
    if signature == "nn":
        numbers = [str(x) if not np.isfinite(x) else x for x in EXTREMES]
        trees += [[name, *pair] for x in numbers for pair in (("z", x), (x, "z"))]
    return trees


def test_every_primitive_of_formulas_is_the_same_in_javascript():
    found = [
        (name, tree)
        for name, signature in SIGNATURES.items()
        if name not in REDUCING
        for tree in trees_of(name, signature)
    ]
    trees = [["number", tree] if name in TRUTHS else tree for name, tree in found]
    points = np.array(POINTS, float)
    rows = primitives_in_node(points, trees)
    for (name, _), tree, got in zip(found, trees, rows, strict=True):
        want = np.broadcast_to(formula(tree).evaluate(points), points.shape).astype(float)
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=0, err_msg=str(tree))
        if name not in UNSIGNED:
            signs = np.isnan(want) | (np.signbit(got) == np.signbit(want))
            assert np.all(signs), (tree, points[~signs])


def primitives_in_node(points: np.ndarray, trees: list[list]) -> list[np.ndarray]:
    """The values of formulas at some points, by the page's own code."""
    script = """
        import { readFileSync } from "node:fs";
        import { scalar } from "../../web/live/formula.js";
        const { points, trees } = JSON.parse(readFileSync(0, "utf8"));
        const word = (x) => (Object.is(x, -0) ? "-0" : String(x));
        const row = (tree) => points.map((x) => word(scalar(tree)(Number(x))));
        console.log(JSON.stringify(trees.map(row)));
    """
    given = json.dumps({"points": [shown(x) for x in points], "trees": trees})
    command = ["node", "--input-type=module", "-e", script]
    done = subprocess.run(
        command, input=given, stdout=subprocess.PIPE, check=True, text=True, cwd=HERE
    )
    return [
        np.array([float(value.replace("Infinity", "inf")) for value in row])
        for row in json.loads(done.stdout)
    ]


def formula(tree: list | str | float) -> Expression:
    if isinstance(tree, list):
        return Expression(tree[0], tuple(map(formula, tree[1:])))
    return VARIABLE if tree == "z" else constant(float(tree))
