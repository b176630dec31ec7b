"""The ways through the product. Each route takes a network as far as it goes, and asserts."""

import functools
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import jsonschema
import numpy as np
from google.protobuf import json_format
from onnx.reference import ReferenceEvaluator
from support.examples.made import samples
from support.harness.sessions import open_session
from support.harness.sweep import count

from neat_onnx import Model, export, import_model, json_schema, load_model, validate
from neat_onnx.model import DataType
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.network.program import Program

Array = np.ndarray[Any, Any]


class Expected:
    """What a network should give for its samples, whatever it is exported as."""

    def __init__(self, net: Network) -> None:
        self._net = net

    @functools.cached_property
    def x(self) -> Floats:
        return samples(self._net)

    @functools.cached_property
    def want(self) -> Floats:
        return self._net.activate(self.x)

    @functools.cached_property
    def single(self) -> Floats:
        """How far off float32 may be, (N, O); rows that overflow are infinite."""
        return rounding_tolerance(self._net, self.x, single=True)

    @functools.cached_property
    def double(self) -> Floats:
        """How far off float64 may be, (N, O); rows that overflow are infinite."""
        return rounding_tolerance(self._net, self.x, single=False)


_EXPECTED: dict[int, Expected] = {}
"""By identity: an Expected holds its network, so that no other one gets its id."""


@dataclass(frozen=True)
class Trip:
    """A network on its way: what it is exported as, and what it should give."""

    net: Network
    options: dict[str, Any] = field(default_factory=dict)

    @functools.cached_property
    def model(self) -> Model:
        return export(self.net, **self.options)

    @property
    def expected(self) -> Expected:
        """Shared by all trips of the network: judging how much rounding does takes longest."""
        return _EXPECTED.setdefault(id(self.net), Expected(self.net))

    @property
    def x(self) -> Floats:
        return self.expected.x

    @property
    def want(self) -> Floats:
        return self.expected.want

    @property
    def tolerance(self) -> Floats:
        """What the model's numbers may be off by, (N, O); rows that overflow are infinite."""
        single = self.options.get("dtype", "float32") == "float32"
        return self.expected.single if single else self.expected.double


Route = Callable[[Trip], None]


# --- JSON -----------------------------------------------------------------------------------------


def json_trip(trip: Trip) -> None:
    """Through JSON text everything comes back, to the last bit."""
    assert_same_genome(import_model(load_model(trip.model.to_json())), trip)


def raw_json_trip(trip: Trip) -> None:
    """base64 holds ONNX's own elements: float64 to the last bit, float32 rounded."""
    model = load_model(trip.model.to_json(encoding="raw"))
    assert_genome_as_exact_as_its_type(import_model(model), trip)


def follows_the_schema(trip: Trip) -> None:
    """Nodes that differ in names alone are judged once: every operator is tried on each."""
    document = json.loads(trip.model.to_json())
    nodes = document["graph"]["node"]
    document["graph"]["node"] = list({_without_names(node): node for node in nodes}.values())
    assert [error.message for error in _schema().iter_errors(document)] == []


def _without_names(node: dict[str, Any]) -> str:
    counts = {"name": 0, "input": len(node["input"]), "output": len(node["output"])}
    return json.dumps(node | counts)


@functools.cache
def _schema() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json_schema("model"))


# --- binary ---------------------------------------------------------------------------------------


def binary_trip(trip: Trip) -> None:
    assert_genome_as_exact_as_its_type(import_model(trip.model.to_bytes()), trip)


def protobuf_json_trip(trip: Trip) -> None:
    """The JSON that protobuf makes of the model says the same as the binary file."""
    model = load_model(json_format.MessageToJson(trip.model.to_proto()))
    assert model.to_bytes() == trip.model.to_bytes()
    assert_genome_as_exact_as_its_type(import_model(model), trip)


# --- without metadata -----------------------------------------------------------------------------


def stripped_trip(trip: Trip) -> None:
    """The graph alone is the same function, and nothing was guessed from metadata."""
    net = import_model(load_model(stripped(trip.model).to_json()), check=False)
    got = net.activate(trip.x)
    assert_close(got, trip.want, trip.expected.double)


def lift_and_lower(trip: Trip) -> None:
    """What comes back from the graph alone is exported again: valid, and the same function."""
    net = import_model(stripped(trip.model), check=False).without_source()
    model = export(net, **trip.options)
    assert validate(model) == []
    assert_close(run_onnxruntime(model, net, trip.x), trip.want, trip.tolerance)


# --- other tools ----------------------------------------------------------------------------------


def onnxruntime_agrees(trip: Trip) -> None:
    assert_close(run_onnxruntime(trip.model, trip.net, trip.x), trip.want, trip.tolerance)


def reference_agrees(trip: Trip) -> None:
    assert_close(run_reference(trip.model, trip.net, trip.x), trip.want, trip.tolerance)


def is_valid(trip: Trip) -> None:
    """The schema, ONNX's full checker, and C1 to C6 and R1 of the graph-semantics profile."""
    assert validate(trip.model) == []


ROUTES: tuple[Route, ...] = (
    json_trip,
    raw_json_trip,
    binary_trip,
    protobuf_json_trip,
    stripped_trip,
    lift_and_lower,
    onnxruntime_agrees,
    reference_agrees,
    is_valid,
)


# --- running --------------------------------------------------------------------------------------


def stripped(model: Model) -> Model:
    return model.model_copy(update={"metadata_props": []})


def run_onnxruntime(model: Model, net: Network, x: Floats) -> Floats:
    """The outputs (N, O) that onnxruntime computes."""
    session = open_session(model)
    names = [port.name for port in net.outputs]
    return _run(lambda feed: session.run(names, feed), model, net, x)


def run_reference(model: Model, net: Network, x: Floats) -> Floats:
    """The outputs (N, O) that onnx's reference evaluator computes."""
    evaluator = ReferenceEvaluator(model.to_proto())
    names = [port.name for port in net.outputs]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return _run(lambda feed: evaluator.run(names, feed), model, net, x)


def _run(
    run: Callable[[dict[str, Array]], list[Array]], model: Model, net: Network, x: Floats
) -> Floats:
    one_by_one = (model.graph.inputs[0].shape or ())[0] == 1
    parts = np.split(x, len(x)) if one_by_one else [x]
    return np.concatenate(
        [
            np.concatenate(
                [out.reshape(len(part), -1) for out in run(_feed(model, net, part))], axis=1
            )
            for part in parts
        ]
    ).astype(np.float64)


def _feed(model: Model, net: Network, x: Floats) -> dict[str, Array]:
    single = model.graph.inputs[0].elem_type is DataType.FLOAT
    widths = np.cumsum([port.neurons.size for port in net.inputs])[:-1]
    return {
        port.name: part.reshape(-1, *port.shape).astype(np.float32 if single else np.float64)
        for port, part in zip(net.inputs, np.split(x, widths, axis=1), strict=True)
    }


# --- comparing ------------------------------------------------------------------------------------

_NUMBERS = {"neurons": ("bias", "response"), "connections": ("weight",)}


def assert_same_genome(back: Network, trip: Trip) -> None:
    """Equal gene by gene, zeros with their signs, and so equal bit for bit in what it computes."""
    assert back == trip.net
    assert back.library == trip.net.library
    for part, names in _NUMBERS.items():
        for name in names:
            ours, theirs = (getattr(getattr(net, part), name) for net in (trip.net, back))
            np.testing.assert_array_equal(np.signbit(ours), np.signbit(theirs))
    np.testing.assert_array_equal(back.activate(trip.x), trip.want)


def assert_genome_as_exact_as_its_type(back: Network, trip: Trip) -> None:
    """The same genes, with weights as they are in the file's type."""
    embedded = trip.options.get("embed_network")
    if trip.options.get("dtype") == "float64" or embedded:
        assert_same_genome(back, trip)
        return
    for part, names in _NUMBERS.items():
        theirs, ours = getattr(back, part), getattr(trip.net, part)
        numbers = {name: getattr(ours, name) for name in names}
        for name in names:
            np.testing.assert_allclose(
                getattr(theirs, name), numbers[name], rtol=2.0**-23, atol=2.0**-149
            )
        back = replace(back, **{part: replace(theirs, **numbers)})
    assert back == trip.net


def assert_close(got: Floats, want: Floats, tolerance: Floats) -> None:
    assert got.shape == want.shape
    judged = np.isfinite(tolerance)
    finite = judged & np.isfinite(want)
    np.testing.assert_array_equal(got[judged & ~finite], want[judged & ~finite])
    error = np.abs(got - np.where(finite, want, 0.0))[finite] / tolerance[finite]
    assert np.all(error <= 1.0), f"off by {np.max(error):.3g} times the tolerance"


def rounding_tolerance(net: Network, x: Floats, single: bool) -> Floats:
    """How far off rounding alone may put the outputs, (N, O): the corpora's rule.

    What genes that are a little off change is measured on some such networks. Rows in which a value
    comes near the largest of the type are not judged: there the order of a sum decides.
    """
    unit, relative, large = (2.0**-24, 2e-6, 1e12) if single else (2.0**-53, 1e-12, 1e100)
    random = np.random.default_rng(1)
    want = net.activate(x)
    change = np.zeros_like(want)
    for _ in range(count(3, 6)):  # of few, the tolerance is the smaller
        got = _perturbed(net, random, unit).activate(x * (1.0 + _signs(random, x) * unit))
        with np.errstate(invalid="ignore"):
            change = np.fmax(change, np.where(got == want, 0.0, np.abs(got - want)))
    values = np.abs(Program(net).neuron_values(x[None])[0])
    near = (values > large) & (single | (values < np.inf))
    overflows = np.any(near | np.isnan(values), axis=0)
    tolerance = relative * np.maximum(1.0, np.abs(want)) + 8.0 * change
    return np.where(overflows[:, None], np.inf, tolerance)


def _perturbed(net: Network, random: np.random.Generator, unit: float) -> Network:
    genes, edges = net.neurons, net.connections

    def off(values: Floats, added: float = 0.0) -> Floats:
        return values * (1.0 + _signs(random, values) * unit) + _signs(random, values) * added

    return replace(
        net,
        neurons=replace(genes, bias=off(genes.bias, unit), response=off(genes.response)),
        connections=replace(edges, weight=off(edges.weight)),
    )


def _signs(random: np.random.Generator, values: Floats) -> Floats:
    return random.choice([-1.0, 1.0], values.shape)
