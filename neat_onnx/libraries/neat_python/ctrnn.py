"""neat-python's continuous-time networks (CTRNN): `export_network_json(net)`, type ctrnn.

Such a network is integrated in sub-steps. In each, every node has a *drive*, the activation of its
inputs: the current inputs, and the other nodes as they were one sub-step before. Its *state*
moves towards the drive, by a rate that the sub-step and the node's time constant give:

    state(k) = (1 - rate) · state(k - lag) + rate · drive(k)

The integrators of neat-python differ in rate and lag. Up to 2.0 it fills two buffers in turn, and a
new state replaces not the last one but the one before it (lag 2); its outputs are one sub-step
late. From 2.1 on it is the exponential Euler method. Only the version in the metadata tells.

A node without enabled connections into it stays 0. Where its genes are known, they stand on a
neuron beside it, as another node's on its drive; a disabled connection from there to the node has
its time constant, in time steps, as the weight.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.genome_graph import Genes, Value
from neat_onnx.libraries.neat_python.documents import (
    Connection,
    Document,
    Node,
    function_name,
    parse_document,
)
from neat_onnx.libraries.neat_python.static import silent_functions, silent_ids
from neat_onnx.libraries.neat_python.times import Swaps, Times, sub_steps, swaps_of
from neat_onnx.network.network import Network
from neat_onnx.parsing import ForeignDocument

name = "neat-python ctrnn"


class _Node(Node):
    time_constant: float


class _Metadata(ForeignDocument):
    neat_python_version: str | None = None


class _Document(Document):
    nodes: list[_Node]
    silent: list[_Node] = Field(default_factory=list)
    metadata: _Metadata = _Metadata()


@dataclass(frozen=True)
class _Integrator:
    """How neat-python of some version integrates.

    Attributes:
        version: the version.
        lag: see the module's text.
        late: how many sub-steps before the last one it returns the states of.
        rate: of a sub-step's length and a time constant.
    """

    version: str
    lag: int
    late: int
    rate: Callable[[float, float], float]


_LEAP_FROG = _Integrator("2.0.0", lag=2, late=1, rate=lambda dt, constant: dt / constant)
_EXPONENTIAL = _Integrator(
    "2.1.0", lag=1, late=0, rate=lambda dt, constant: -math.expm1(-dt / constant)
)


def read(document: Mapping[str, Any], times: Times) -> Network:
    """The network, one step of which is `net.advance(inputs, advance_time, time_step)`."""
    parsed = parse_document(_Document, document)
    integrator = _integrator(parsed.metadata.neat_python_version)
    step, advance = times.of(name)
    lengths = sub_steps(step, advance)
    swaps = swaps_of(step, advance) if integrator is _LEAP_FROG else None
    if swaps:
        warn(
            f"neat-python 2.0.0 rounds the time so that some steps, the first of them step "
            f"{swaps.changes[0] + 1}, have one more sub-step: these steps are known by their "
            f"number, which is right for the first {swaps.followed} steps after a reset"
        )
    return _Compiler(parsed, integrator, lengths, swaps).network()


def _integrator(version: str | None) -> _Integrator:
    found = re.match(r"(\d{1,9})\.(\d{1,9})", version or "")
    if not found:
        raise NetworkError(
            "the document does not say which neat-python wrote it, and so how it is integrated",
            where="metadata.neat_python_version",
            hint="Add the version, such as '2.0.0' or '2.1.0'",
        )
    return _EXPONENTIAL if (int(found[1]), int(found[2])) >= (2, 1) else _LEAP_FROG


class _Compiler:
    """Makes, for each sub-step, a drive and a state of every node.

    Args:
        document: the network.
        integrator: how it is integrated.
        lengths: of the sub-steps in one step.
        swaps: at which steps rounding swaps the two buffers; None if it never does.
    """

    def __init__(
        self,
        document: _Document,
        integrator: _Integrator,
        lengths: list[float],
        swaps: Swaps | None,
    ) -> None:
        self._document, self._integrator, self._lengths = document, integrator, lengths
        self._inputs = document.topology.input_keys
        self._outputs = document.topology.output_keys
        self._nodes = {node.id: node for node in document.nodes if node.type != "input"}
        self._index = {node.id: index for index, node in enumerate(document.nodes)}
        self._into: dict[int, list[Connection]] = defaultdict(list)
        for gene in document.connections:
            self._into[gene.target].append(gene)
        known = {*self._inputs, *self._nodes}
        named = silent_ids(document, self._nodes, recurrent=True)
        self._silent = sorted({*named, *(node.id for node in document.silent)} - known)
        self._genes = genes = Genes([*self._inputs, *self._nodes, *self._silent])
        self._sub_steps = range(1, len(lengths) + 1)
        self._late = {key for key in self._outputs if key in self._nodes and integrator.late}
        self._swap = swaps.neurons(genes) if swaps and self._nodes else None
        before = (-1, 0) if swaps else ()
        self._state = {
            (key, k): self._state_id(key, k)
            for k in (*before, *self._sub_steps)
            for key in self._nodes
        }

    def network(self) -> Network:
        """The network of all of them."""
        genes = self._genes
        for key in self._silent:
            genes.neuron(key, "", [])
        for key in self._nodes:
            if self._swap:
                self._add_buffers(key, *self._swap)
            for k in self._sub_steps:
                self._add_state(key, k)
        for key in sorted(self._late):
            self._add_returned(key)
        holders = self._add_holders()
        for key in (*self._inputs, *self._silent):
            for gene in self._into[key]:  # they are disabled
                target = holders.get(key, key)
                genes.connect((gene.source, 0), target, gene.weight, enabled=False)
        return genes.network(
            self._inputs, self._outputs, f"neat-python ctrnn {self._integrator.version}"
        )

    def _state_id(self, key: int, k: int) -> int:
        """The node's own id for its last state, unless `advance` returns another one."""
        own = k == len(self._lengths) and key not in self._late
        return key if own else self._genes.fresh_id()

    def _value(self, key: int, k: int) -> Value:
        """The value of a node after sub-step k; values up to k = 0 are from the step before."""
        if key not in self._nodes:
            return key, 0
        if (key, k) in self._state:
            return self._state[key, k], 0
        steps, k = divmod(k - 1, len(self._lengths))
        return self._state[key, k + 1], -steps

    def _add_state(self, key: int, k: int) -> None:
        rate = self._rate(key, k)
        before = self._value(key, k - self._integrator.lag)
        reads = [(before, 1.0 - rate), ((self._add_drive(key, k), 0), rate)]
        state = self._state[key, k]
        self._genes.neuron(state, "" if state == key else self._name(key, "state", k), reads)

    def _add_drive(self, key: int, k: int) -> int:
        node, index = self._nodes[key], self._index[key]
        drive = self._genes.helper(
            self._name(key, "drive", k),
            [],
            activation=function_name(node, index, "activation"),
            aggregation=function_name(node, index, "aggregation"),
            bias=node.bias,
            response=node.response,
        )
        for gene in self._into[key]:
            if gene.enabled or k == len(self._lengths):
                source = self._value(gene.source, k - 1)
                self._genes.connect(source, drive, gene.weight, enabled=gene.enabled)
        return drive

    def _add_holders(self) -> dict[int, int]:
        """Add the genes of nodes that stay 0; returns the ids of their neurons, by node."""
        found: dict[int, int] = {}
        silent = sorted(enumerate(self._document.silent), key=lambda item: item[1].id)
        for index, node in silent:
            names = silent_functions(node, index)
            if names is None or node.id not in self._silent or node.id in found:
                continue
            found[node.id] = holder = self._genes.helper(
                f"node {node.id} genes",
                [],
                activation=names[0],
                aggregation=names[1],
                bias=node.bias,
                response=node.response,
            )
            constant = node.time_constant / self._lengths[0]
            self._genes.connect((holder, 0), node.id, constant, enabled=False)
        return found

    def _add_buffers(self, key: int, swaps: int, stays: int) -> None:
        """The states that the first sub-step reads, where they may have changed places."""
        last, before = (self._value(key, len(self._lengths) - k) for k in (0, 1))
        for k, (usual, swapped) in ((0, (last, before)), (-1, (before, last))):
            buffer = self._genes.neuron(self._state[key, k], f"node {key} buffer {1 + k}", [])
            for (source, _), gater in ((usual, stays), (swapped, swaps)):
                self._genes.connect((source, 1), buffer, 1.0, gater=gater, gate_delay=1)

    def _add_returned(self, key: int) -> None:
        """The value of a node that `advance` returns: the state before the last one."""
        last, late = (self._value(key, len(self._lengths) - k) for k in (0, self._integrator.late))
        if self._swap is None:
            self._genes.neuron(key, "", [(late, 1.0)])
            return
        self._genes.neuron(key, "", [])
        for value, gater in zip((last, late), self._swap, strict=True):
            self._genes.connect(value, key, 1.0, gater=gater)

    def _rate(self, key: int, k: int) -> float:
        constant = self._nodes[key].time_constant
        try:
            rate = self._integrator.rate(self._lengths[k - 1], constant)
        except (ZeroDivisionError, OverflowError):
            rate = math.inf
        if not math.isfinite(rate):
            raise NetworkError(
                f"time_constant {constant:g} of node {key} is too small",
                where=f"nodes[{self._index[key]}].time_constant",
            )
        return rate

    def _name(self, key: int, what: str, k: int) -> str:
        return f"node {key} {what}" + (f", sub-step {k}" if len(self._lengths) > 1 else "")
