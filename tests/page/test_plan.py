"""The plan that the page computes by, run by its own JavaScript, against Network.run."""

import base64
import json
import subprocess
import warnings
from pathlib import Path

import numpy as np
from cases import cases

import neat_onnx
from neat_onnx.network.aggregations import AGGREGATIONS
from neat_onnx.network.expression import VARIABLE, Expression, constant
from neat_onnx.network.primitives import REDUCING, SIGNATURES, TRUTHS
from neat_onnx.page.plan import plan_of

HERE = Path(__file__).absolute().parent
STEPS = 24
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
    plan = plan_of(net)
    arrays = {name: base64.b64encode(data).decode() for name, data in plan.arrays.items()}
    return {"document": plan.document, "arrays": arrays, "rows": rows.tolist()}


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
        rows = rng.normal(size=(STEPS, len(net.input_neurons)))
        cases.append(job(net, rows))
        with np.errstate(all="ignore"):
            wanted.append(net.run(rows) if net.has_memory else net.run(rows[:, None])[:, 0])
    for name, got, want in zip(nets, run_in_node(cases), wanted, strict=True):
        finite = np.isfinite(want)
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want), err_msg=name)
        error = np.abs(got - want)[finite] / np.maximum(1, np.abs(want[finite]))
        assert error.max(initial=0) <= 1e-12, (name, error.max())


def aggregating(name: str, inputs: int) -> neat_onnx.Network:
    """A neuron that aggregates so many of five inputs."""
    neuron = {"id": 9, "activation": "tanh", "bias": 0.25, "response": 0.5, "aggregation": name}
    connections = [(i, 9, 0.5 - i) for i in range(inputs)]
    return neat_onnx.Network.build(inputs=5, outputs=[9], neurons=[neuron], connections=connections)


def test_every_aggregation_of_any_number_of_inputs():
    names = [(name, k) for name in sorted(AGGREGATIONS) for k in (0, 1, 2, 5)]
    nets = [aggregating(*name) for name in names]
    rows = np.random.default_rng(0).normal(size=(8, 5))
    for name, net, got in zip(
        names, nets, run_in_node([job(net, rows) for net in nets]), strict=True
    ):
        np.testing.assert_allclose(
            got, net.activate(rows), rtol=1e-13, atol=1e-15, err_msg=str(name)
        )


def samples(letter: str) -> list:
    return ["z", ["sub", 0.5, "z"]] if letter == "n" else [["greater", "z", 0.25], ["less", "z", 1]]


def test_every_primitive_of_formulas_is_the_same_in_javascript():
    points = np.array(
        [
            -np.inf,
            -30.0,
            -7,
            -2.75,
            -1,
            -0.5,
            0,
            1e-9,
            0.25,
            0.5,
            1,
            1.5,
            2.5,
            3,
            40,
            np.inf,
            np.nan,
        ]
    )
    names, trees = [], []
    for name, signature in SIGNATURES.items():
        if name in REDUCING:
            continue
        constants = iter((0.3, 1.7))
        args = [
            next(constants) if c == "c" else samples(c)[place % 2]
            for place, c in enumerate(signature)
        ]
        tree = [name, *args]
        names.append(name)
        trees.append(["number", tree] if name in TRUTHS else tree)
    script = """
        import { scalar } from "../../web/live/formula.js";
        const { points, trees } = JSON.parse(process.argv[1]);
        const value = (text) => Number(text.replace("inf", "Infinity"));
        const row = (tree) => points.map((x) => String(scalar(tree)(value(x))));
        console.log(JSON.stringify(trees.map(row)));
    """
    argument = json.dumps({"points": [str(x) for x in points], "trees": trees})
    command = ["node", "--input-type=module", "-e", script, argument]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, cwd=HERE)
    for name, tree, row in zip(names, trees, json.loads(done.stdout), strict=True):
        got = np.array([float(value.replace("Infinity", "inf")) for value in row])
        want = np.broadcast_to(formula(tree).evaluate(points), points.shape).astype(float)
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-15, err_msg=name)


def formula(tree: list | str | float) -> Expression:
    if isinstance(tree, list):
        return Expression(tree[0], tuple(map(formula, tree[1:])))
    return VARIABLE if tree == "z" else constant(float(tree))
