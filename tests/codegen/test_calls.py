"""Generated code in the hands of others: inputs of other types and lengths, and names."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running_code import WARNINGS, needs_compiler, run_c, run_python, runs

from neat_onnx import Network, OptionError, export, generate_code, verify
from neat_onnx.network.port import Port

LOOP = {"source": 2, "target": 2, "weight": 0.999, "delay": 1}
LEAKY = Network.build(
    inputs=2, outputs=[2], neurons=[2], connections=[(0, 2, 1.0), (1, 2, 0.5), LOOP]
)


def module(net: Network) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(compile(generate_code(net, language="python"), "network.py", "exec"), space)
    return space


def node(folder: Path, net: Network, program: str) -> Any:
    """The JSON that a program prints, which imports everything of the network as `network`."""
    (folder / "network.mjs").write_text(generate_code(net, language="javascript"))
    (folder / "run.mjs").write_text(f'import * as network from "./network.mjs";\n{program}')
    command = ["node", "run.mjs"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def compiled(source: str, folder: Path) -> None:
    (folder / "network.c").write_text(source)
    subprocess.run(["gcc", *WARNINGS, "-c", "network.c"], cwd=folder, check=True)


def ported(*names: str) -> Network:
    """A network with two inputs and two outputs, a port of its own for each."""
    ports = tuple(Port(name, (1,), np.array([k])) for k, name in enumerate(names))
    return replace(Network.mlp([2, 2], seed=0), inputs=ports[:2], outputs=ports[2:])


# --- inputs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_python_computes_in_its_own_numbers_whatever_is_given(kind: type):
    x = np.random.default_rng(0).normal(size=(300, 2)).astype(kind)
    network = module(LEAKY)["Network"]()
    got = [network.step(row) for row in x]
    assert type(got[0][0]) is float
    np.testing.assert_allclose(got, LEAKY.run(x), rtol=1e-12)


@pytest.mark.parametrize("given", [[1.0], [1.0, 2.0, 3.0], []])
def test_python_refuses_another_number_of_inputs(given: list[float]):
    network = module(LEAKY)["Network"]()
    first = network.step([1.0, 2.0])
    with pytest.raises(ValueError, match=f"port 'input' takes 2 numbers, not {len(given)}"):
        network.step(given)
    assert network.step([1.0, 2.0]) == [first[0] * 1.999]


def test_python_names_the_port_of_several():
    activate = module(ported("a", "\U0001f600", "y", "z"))["activate"]
    assert set(activate({"a": [1.0], "\U0001f600": [2.0]})) == {"y", "z"}
    with pytest.raises(ValueError, match="port '\U0001f600' takes 1 numbers, not 2"):
        activate({"a": [1.0], "\U0001f600": [2.0, 3.0]})


def test_javascript_refuses_another_number_of_inputs(tmp_path: Path):
    program = """
        const memory = new network.Network();
        const results = [[1, 2], [1], [1, 2, 3], [], [1, 2]].map((given) => {
            try { return [...memory.step(given)]; } catch (error) { return String(error); }
        });
        console.log(JSON.stringify(results));
    """
    first, *refused, last = node(tmp_path, LEAKY, program)
    told = [f"RangeError: port 'input' takes 2 numbers, not {count}" for count in (1, 3, 0)]
    assert (first, refused) == ([2.0], told)
    np.testing.assert_allclose(last, [2.0 * 1.999])


# --- names ----------------------------------------------------------------------------------------


def test_every_port_comes_out_whatever_its_name(tmp_path: Path):
    """In an object of JavaScript, `__proto__: value` adds no property."""
    net = ported("valueOf", "constructor", "__proto__", "toString")
    program = """
        const found = network.activate({valueOf: [0.5], constructor: [-0.5]});
        console.log(JSON.stringify(Object.keys(found).map((name) => [name, [...found[name]]])));
    """
    want = net.activate({"valueOf": [[0.5]], "constructor": [[-0.5]]})
    found = dict(node(tmp_path, net, program))
    assert found.keys() == want.keys()
    for name, value in want.items():
        np.testing.assert_allclose(found[name], value[0], rtol=1e-13)
    assert verify(net, export(net), runtime="javascript", samples=8).passed


@needs_compiler
@pytest.mark.parametrize("name", ["act", "input", "NAN", "linux"])
def test_functions_of_the_network_have_their_names_for_themselves(name: str, tmp_path: Path):
    """An activation's function is named act_step, and so would be that of a network named act."""
    neurons = [{"id": 1, "activation": "step"}, {"id": 2, "activation": "tanh"}]
    connections = [(0, 1, 1.0), (1, 2, 1.0), LOOP]
    net = Network.build(inputs=1, outputs=[2], neurons=neurons, connections=connections)
    compiled(generate_code(net, name=name), tmp_path)
    outputs = [Port(one, (), np.array([2])) for one in ("activate", "reset", "step")]
    compiled(generate_code(replace(net, outputs=tuple(outputs)), name=name), tmp_path)


HOSTILE = [
    "*/ int main(void) { return 1; } /*", "double", "v", "BIAS", "a\nb", "9", "`${1}`", '"""', "é",
    "v", "tanh", "class", "\u2028", "output_2",
    "\U0001f600", "len", "str", "RangeError", "ValueError",
    "Math", "namespace", "func", "lerp", "PI",
]  # fmt: skip


def hostile() -> Network:
    """A network with a port for each name that might break out of a text, and one neuron each."""
    count = len(HOSTILE)
    net = Network.mlp([count, count], activation="tanh", seed=1)
    names = [f"{name}{k}" if HOSTILE.index(name) != k else name for k, name in enumerate(HOSTILE)]
    inputs = tuple(Port(name, (1,), np.array([k])) for k, name in enumerate(names))
    outputs = tuple(Port(f"{name}+", (), np.array([k + count])) for k, name in enumerate(names))
    return replace(net, inputs=inputs, outputs=outputs)


def test_names_of_ports_cannot_break_out(tmp_path: Path):
    net = hostile()
    x = np.random.default_rng(0).normal(size=(4, len(HOSTILE)))
    given = {port.name: x[:, [k]] for k, port in enumerate(net.inputs)}
    want = np.stack(list(net.activate(given).values()), axis=1)
    np.testing.assert_allclose(run_python(net, x, sequence=False), want, rtol=1e-13)
    for run in runs():
        (got,) = run(tmp_path, [(net, x, False)])
        np.testing.assert_allclose(got, want, rtol=1e-13)
    if shutil.which("gcc"):
        np.testing.assert_allclose(run_c(tmp_path, net, x, sequence=False), want, rtol=1e-13)


# --- the text of C --------------------------------------------------------------------------------


def limited(limit: str) -> Network:
    neurons = [{"id": 1, "activation": f"formula: clip(z, -inf, {limit})"}]
    return Network.build(inputs=1, outputs=[1], neurons=neurons, connections=[(0, 1, 1.0)])


@needs_compiler
@pytest.mark.parametrize("limit", ["inf", "3.4e38", "1e-60"])
def test_constants_that_float32_has_are_printed(limit: str, tmp_path: Path):
    compiled(generate_code(limited(limit), dtype="float32"), tmp_path)


def test_a_constant_beyond_float32_is_refused():
    generate_code(limited("1e39"))
    with pytest.raises(
        OptionError, match=r"a constant of 1e\+39 .*float32 \(dtype\). Generate float64"
    ):
        generate_code(limited("1e39"), dtype="float32")
