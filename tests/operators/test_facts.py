"""What the classes of operators say of them, held against ONNX's own cases."""

import importlib.util
from collections import defaultdict
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from support.examples.backend_cases import backend, backend_cases

import neat_onnx.operators.on_demand
import neat_onnx.operators.rare  # noqa: F401 (registers itself)
from neat_onnx.model.node import node_classes

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of infinities among the cases
MOST = 3  # cases of each operator
LARGEST = 10_000  # elements
Case = tuple[Any, list[Any], list[Any]]


OWN = {
    name: kind
    for name, kind in node_classes().items()
    if not kind.model_fields["domain"].default
    if importlib.util.find_spec(f"{backend.__name__}.{name.lower()}")
}


def having(*facts: str) -> list[str]:
    """The operators with one of these facts, and cases of ONNX."""
    return [name for name, kind in OWN.items() if any(getattr(kind, fact) for fact in facts)]


ML = "ai.onnx.ml"
OF_ML = {
    name: kind for name, kind in node_classes().items() if kind.model_fields["domain"].default == ML
}
OF_ALL = {"DynamicQuantizeLinear"}
"""Operators whose results depend on all elements, in whatever order."""
LACKING = [
    name
    for name, kind in OWN.items()
    if kind.inputs == (1, 1) and not kind.elementwise and name not in OF_ALL
]
"""Operators of one input that depend on where an element stands."""


def array(value: Any) -> Any:
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else np.asarray(value)


@pytest.fixture(scope="module")
def cases() -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = defaultdict(list)
    names = {*having("elementwise", "picks", "exact"), *LACKING}
    for case in backend_cases(*sorted(names)).values():
        reads, gives = ([array(each) for each in part] for part in case.data_sets[0])
        plain = all(each.size and each.dtype.kind in "fiub" for each in (*reads, *gives))
        of_one = found[case.model.graph.node[0].op_type]
        if plain and sum(each.size for each in reads) <= LARGEST and len(of_one) < MOST:
            of_one.append((case.model, reads, gives))
    return found


def computed(model: Any, reads: list[Any]) -> list[Any]:
    """The results of a model's only node in the reference evaluator, for inputs of any shape."""
    entries = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), None)
        for name, each in zip([n for n in model.graph.node[0].input if n], reads, strict=True)
    ]
    results = [helper.make_empty_tensor_value_info(name) for name in model.graph.node[0].output]
    body = helper.make_graph(list(model.graph.node), "one", entries, results)
    alone = helper.make_model(body, opset_imports=model.opset_import)
    feed = {entry.name: each for entry, each in zip(entries, reads, strict=True)}
    return [np.asarray(each) for each in ReferenceEvaluator(alone).run(None, feed)]


def turned(model: Any, reads: list[Any]) -> Any:
    """The first result for the inputs' elements in one row, the last one first."""
    rows = [
        each if each.size == 1 else whole.ravel()[::-1].copy()
        for each, whole in zip(reads, np.broadcast_arrays(*reads), strict=True)
    ]
    return computed(model, rows)[0].ravel()[::-1]


@pytest.mark.parametrize("name", having("elementwise"))
def test_elementwise_results_do_not_depend_on_the_place(name: str, cases):
    for model, reads, gives in cases[name]:
        assert gives[0].shape == np.broadcast_shapes(*(each.shape for each in reads))
        got = turned(model, reads)
        np.testing.assert_allclose(got, gives[0].astype(got.dtype).ravel(), rtol=1e-5)


@pytest.mark.parametrize("name", LACKING)
def test_results_that_are_not_elementwise_depend_on_the_place(name: str, cases):
    """A new function of one number has to say that it is one."""
    for model, reads, gives in cases[name]:
        if gives[0].shape != reads[0].shape:
            return
        try:
            got = turned(model, reads)
        except Exception:  # noqa: BLE001 - an operator of images takes no row
            return
        if not np.array_equal(got, gives[0].ravel()):
            return
    assert not cases[name]


@pytest.mark.parametrize("name", having("picks"))
def test_results_that_are_picked_are_elements_of_inputs(name: str, cases):
    for _, reads, gives in cases[name]:
        known = [each.ravel() for each in reads if each.dtype == gives[0].dtype]
        for each in gives if name == "Split" else gives[:1]:  # other second results are places
            assert np.all(np.isin(each, np.concatenate(known)))


@pytest.mark.parametrize("name", having("picks", "exact"))
def test_exact_results_of_half_precision_are_of_half_precision(name: str, cases):
    for model, reads, _ in cases[name]:
        if any(entry.name == "reduction" for entry in model.graph.node[0].attribute):
            continue
        halves = [
            each.astype(np.float16).astype(each.dtype) if each.dtype.kind == "f" else each
            for each in reads
        ]
        for each in computed(model, halves):
            if each.dtype.kind == "f":
                np.testing.assert_array_equal(each, each.astype(np.float16).astype(each.dtype))


@pytest.mark.parametrize("name", OF_ML)
def test_operators_whose_numbers_are_float32_say_so(name: str):
    results = onnx.defs.get_schema(name, ML).outputs
    rounded = any(each.type_str == "tensor(float)" for each in results)
    assert OF_ML[name].single == (rounded and name != "OneHotEncoder")  # which gives 0 and 1


def test_nearly_every_fact_is_held_against_a_case(cases):
    assert [name for name in having("elementwise", "picks", "exact") if not cases[name]] == []
