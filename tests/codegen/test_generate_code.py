"""Generated code: compiled, run, and compared with the outputs that the libraries computed."""

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running_code import (
    GODOT,
    MONO,
    needs_compiler,
    run_c,
    run_csharp,
    run_gdscript,
    run_javascript,
    run_python,
    runs,
)
from support.examples.cases import Case, assert_within, cases
from support.harness.sweep import each

from neat_onnx import Network, OptionError, generate_code, register_activation
from neat_onnx.codegen.c import C
from neat_onnx.codegen.csharp import CSharp
from neat_onnx.codegen.gdscript import GDScript
from neat_onnx.codegen.javascript import JavaScript
from neat_onnx.codegen.language import Language, scalar_text
from neat_onnx.codegen.python import Python
from neat_onnx.network.activations import ACTIVATIONS, unregister_activation
from neat_onnx.network.expression import PRIMITIVES, VARIABLE, Expression, constant

NETWORK_GROUPS = ("nts-net", "nap-net", "np-ff", "np-rec", "np-atom")
CASES = {case.name: case for case in cases(*NETWORK_GROUPS)}
SOME = each(10, list(CASES))  # a compiler takes its time


# --- the corpora ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_python_computes_what_the_library_computed(name: str):
    case = CASES[name]
    got = run_python(case.network(), case.inputs, sequence=case.sequence)
    assert_within(got, case.outputs, case.tolerance64)


MANY = [
    pytest.param(run_javascript, id="javascript"),
    pytest.param(
        run_csharp, id="csharp", marks=pytest.mark.skipif(not MONO, reason="needs Mono")
    ),
    pytest.param(
        run_gdscript, id="gdscript", marks=pytest.mark.skipif(not GODOT, reason="needs Godot 3")
    ),
]  # fmt: skip


@pytest.mark.parametrize("run", MANY)
def test_code_computes_what_the_libraries_computed(run: Any, tmp_path: Path):
    chosen = list(CASES.values())
    jobs = [(case.network(), case.inputs, case.sequence) for case in chosen]
    for case, got in zip(chosen, run(tmp_path, jobs), strict=True):
        assert_within(got, case.outputs, case.tolerance64)


@needs_compiler
@pytest.mark.parametrize("name", SOME)
def test_c_computes_what_the_library_computed(name: str, tmp_path: Path):
    case: Case = CASES[name]
    for dtype, tolerance in (("float64", case.tolerance64), ("float32", case.tolerance32)):
        got = run_c(tmp_path, case.network(), case.inputs, sequence=case.sequence, dtype=dtype)
        assert_within(got, case.outputs, tolerance)


# --- memory and gates -----------------------------------------------------------------------------

DELAYED = Network.build(
    inputs=1,
    outputs=[2],
    neurons=[{"id": 1, "initial": 0.75}, {"id": 2, "activation": "tanh", "initial": -0.5}],
    connections=[
        (0, 1, 1.0),
        {"source": 1, "target": 2, "weight": 0.5, "delay": 2},
        {"source": 1, "target": 2, "weight": -0.25, "delay": 3},
        {"source": 2, "target": 2, "weight": 0.125, "delay": 1},
    ],
)
GATED = Network.build(
    inputs=2,
    outputs=[3],
    neurons=[2, {"id": 3, "activation": "tanh", "aggregation": "max"}],
    connections=[
        {"source": 0, "target": 2, "weight": 0.5, "gater": 1},
        {"source": 1, "target": 3, "weight": -2.0, "gater": 2},
        {"source": 0, "target": 3, "weight": 1.5, "gater": 2},
    ],
)


@pytest.mark.parametrize("net", [DELAYED, GATED], ids=["delayed", "gated"])
def test_registers_and_gates_are_the_networks(net: Network, tmp_path: Path):
    count = sum(port.neurons.size for port in net.inputs)
    x = np.random.default_rng(3).normal(size=(8, count))
    want = net.run(x)
    np.testing.assert_allclose(run_python(net, x, sequence=True), want, rtol=1e-13)
    for run in runs():
        (got,) = run(tmp_path, [(net, x, True)])
        np.testing.assert_allclose(got, want, rtol=1e-13)
    if shutil.which("gcc"):
        for dtype, tolerance in (("float64", 1e-13), ("float32", 1e-5)):
            got = run_c(tmp_path, net, x, sequence=True, dtype=dtype)
            np.testing.assert_allclose(got, want, rtol=tolerance)


MAIN = """#include "n.h"
#include <stdio.h>
int main(void)
{
    double x[2] = {0.5, -0.25}, y[1];
    CALL
    printf("%.17g", y[0]);
    return 0;
}
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs compilers of C and C++")
@pytest.mark.parametrize("compiler", [["gcc", "-std=c99"], ["g++"]], ids=["c", "c++"])
@pytest.mark.parametrize("net", [Network.mlp([2, 3, 1], seed=0), GATED], ids=["plain", "gated"])
def test_a_header_is_for_c_and_for_c_plus_plus(compiler, net: Network, tmp_path: Path):
    text = generate_code(net, language="header")
    assert text.count("NETWORK_H") == 3
    (tmp_path / "n.h").write_text(text + text)  # as if included twice
    held = "network_state s; network_reset(&s); network_step(&s, x, y);"
    call = held if net.has_memory or "network_state" in text else "network_activate(x, y);"
    ending = ".c" if compiler[0] == "gcc" else ".cpp"
    (tmp_path / f"main{ending}").write_text(MAIN.replace("CALL", call))
    build = [*compiler, "-Wall", "-Wextra", "-pedantic", "-Werror", f"main{ending}", "-lm"]
    subprocess.run([*build, "-o", "main"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    np.testing.assert_allclose(float(done.stdout), net.run([[0.5, -0.25]]).ravel(), rtol=1e-13)


# --- formulas -------------------------------------------------------------------------------------

_POSITIVE = [
    0.0, 5e-324, 1e-310, 1e-160, 1e-8, 0.3, 0.49999999999999994, 0.5, 1.0, 1.5, 2.5, 2.7, 3.5, 9.0,
    800.0, 2.0**52 - 0.5, 2.0**53 + 2.0, 1e22, 1e300, float(np.finfo(np.float64).max), np.inf,
]  # fmt: skip
_POINTS = np.array([*_POSITIVE, *(-x for x in _POSITIVE), np.nan])
LANGUAGES: dict[str, Language] = {
    "c": C(single=False), "js": JavaScript(), "python": Python(), "csharp": CSharp(),
    "gdscript": GDScript(),
}  # fmt: skip


def elementwise() -> list[Expression]:
    """Expressions for each elementwise primitive, over z and over -z, which may be -0."""
    reducing = {"total", "product", "largest", "smallest", "where_largest", "pick", "lowest"}
    crossed = Expression("clip", (VARIABLE, constant(2.0), constant(0.75)))
    minus = Expression("neg", (VARIABLE,))
    over = [_over(z, op) for z in (VARIABLE, minus) for op in PRIMITIVES if op not in reducing]
    return [*over, crossed, Expression("pow", (constant(-1.0), VARIABLE))]


def _over(z: Expression, op: str) -> Expression:
    truth = Expression("greater", (z, constant(0.25)))
    other = Expression("less", (z, constant(2.0)))
    numbers = (z, constant(0.75), constant(2.0))
    if op in ("both", "either", "one_of"):
        return Expression("number", (Expression(op, (truth, other)),))
    if op == "negated":
        return Expression("number", (Expression(op, (truth,)),))
    if op in ("is_nan", "is_infinite"):
        return Expression("number", (Expression(op, (z,)),))
    if op == "number":
        return Expression(op, (truth,))
    if op == "where":
        return Expression(op, (truth, z, constant(-2.0)))
    if op in ("greater", "greater_or_equal", "less", "less_or_equal", "equal"):
        return Expression("number", (Expression(op, (z, constant(0.5))),))
    counts = {"selu": 3, "clip": 3, "elu": 2, "leaky_relu": 2}
    two = ("add", "sub", "mul", "div", "pow", "mod", "maximum", "minimum")
    count = counts.get(op, 2 if op in two else 1)
    return Expression(op, numbers[:count])


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_primitive_has_a_form(language: str):
    for formula in elementwise():
        assert scalar_text(LANGUAGES[language], formula, "z")


@pytest.fixture
def primitives() -> Iterator[Network]:
    """A network of one input and an output for each primitive, which reads the input itself."""
    formulas, made = elementwise(), []
    known = {each.expression: each.name for each in ACTIVATIONS.values()}
    for k, formula in enumerate(formulas):
        if formula not in known:
            known[formula] = f"primitive_{k}"
            made.append(known[formula])
            register_activation(known[formula], lambda z, formula=formula: formula)
    yield Network.build(
        inputs=1,
        outputs=range(1, len(formulas) + 1),
        neurons=[{"id": k, "activation": known[f]} for k, f in enumerate(formulas, 1)],
        connections=[(0, k, 1.0) for k in range(1, len(formulas) + 1)],
    )
    for name in made:
        unregister_activation(name)


def test_every_primitive_computes_what_numpy_does(primitives: Network, tmp_path: Path):
    x = _POINTS[:, None]
    want = primitives.activate(x)
    found = {run.__name__: run(tmp_path, [(primitives, x, False)])[0] for run in runs()}
    found["python"] = run_python(primitives, x, sequence=False)
    if shutil.which("gcc"):
        found["c"] = run_c(tmp_path, primitives, x, sequence=False)
    for language, got in found.items():
        for k, formula in enumerate(elementwise()):
            told = f"{language}: {formula}"
            # Mono asks the processor, whose pi has 66 bits
            far = language == "run_csharp" and formula.op in ("sin", "cos", "tan")
            near = np.abs(_POINTS) < 1e3 if far else slice(None)
            pair = got[near, k], want[near, k]
            np.testing.assert_allclose(*pair, rtol=1e-13, atol=1e-300, err_msg=told)
            if formula.op not in ("relu", "elu", "selu"):  # which of 0 and -0 is larger is open
                zero = want[:, k] == 0.0
                signs = np.signbit(got[zero, k]), np.signbit(want[zero, k])
                np.testing.assert_array_equal(*signs, err_msg=told)


@pytest.mark.parametrize("language", ["c", "csharp", "gdscript", "javascript", "python"])
def test_the_same_network_gives_the_same_text(language: Any):
    net = CASES["nts-net-gru-4"].network()
    assert generate_code(net, language=language) == generate_code(net, language=language)


def test_what_cannot_be_generated_is_refused():
    net = Network.mlp([2, 1], seed=0)
    with pytest.raises(OptionError, match="no language 'cobol'"):
        generate_code(net, language="cobol")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="float64"):
        generate_code(net, language="python", dtype="float32")
    large = replace(net, connections=replace(net.connections, weight=np.array([1e39, 1.0])))
    with pytest.raises(OptionError, match=r"neuron 2 has the weight 1e\+39, beyond"):
        generate_code(large, dtype="float32")
