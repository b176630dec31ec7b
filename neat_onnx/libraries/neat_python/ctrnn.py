"""neat-python's continuous-time networks (CTRNN): `export_network_json(net)`, type ctrnn.

Such a network is integrated in sub-steps. In each, every node has a *drive*, the activation of its
inputs: the current inputs, and the other nodes as they were one sub-step before. Its *state*
moves towards the drive, by a rate that the sub-step and the node's time constant give:

    state(k) = (1 - rate) · state(k - lag) + rate · drive(k)

The integrators of neat-python differ in rate and lag. Up to 2.0 it fills two buffers in turn, and a
new state replaces not the last one but the one before it (lag 2); its outputs are one sub-step
late. From 2.1 on it is the exponential Euler method. Only the version in the metadata tells.

A node without enabled connections into it stays 0: see `static.py`.

When `advance` of neat-python 2.0.0 adds up the time in floating point, and the sum is a last bit
short, it takes one more sub-step, of 1e-16 or so. That moves no state, but it swaps the buffer that
is read and the one that is written, until the next such sub-step. When this happens depends on the
number of the step alone: between two powers of two of the time it always does or never does. So it
is a matter of a few steps at which it begins or ends, which a neuron that counts steps can tell.
"""

import math
import re
from functools import cache

from neat_onnx.errors import NetworkError, OptionError, warn
from neat_onnx.libraries.neat_python.functions import KINDS, name_in_network
from neat_onnx.libraries.neat_python.genes import Genes, NodeGene
from neat_onnx.libraries.neat_python.static import holder_name, holders
from neat_onnx.libraries.neat_python.times import Times, Unrolled, sub_steps
from neat_onnx.network.network import Network

name = "neat-python ctrnn"

_MAX_SUB_STEPS_FOLLOWED = 300_000
_MAX_CHANGES = 100


def ctrnn_network(genes: Genes, times: Times) -> Network:
    """Return the network, one step of which is `net.advance(inputs, advance_time, time_step)`."""
    version = integrator_of(genes.version)
    step, advance = times.of(name)
    swaps = _swaps(step, advance) if version == "2.0.0" else ()
    return _Continuous(genes, version, sub_steps(step, advance), swaps).integrated()


@cache
def _swaps(time_step: float, advance_time: float) -> tuple[int, ...]:
    """Return where steps with one more sub-step begin, end, begin again, …, counted from 0."""
    planned = len(sub_steps(time_step, advance_time))
    followed = _MAX_SUB_STEPS_FOLLOWED // planned
    time, swapped, changes = 0.0, False, []
    for step in range(followed):
        count, end = 0, time + advance_time
        while time < end:
            left = end - time
            time += left if left < time_step else time_step  # `min` takes twice as long
            count += 1
        if ((count - planned) % 2 == 1) != swapped:
            swapped = not swapped
            changes.append(step)
    if len(changes) > _MAX_CHANGES:
        raise OptionError(
            f"with time_step {time_step!r} and advance_time {advance_time!r}, neat-python 2.0.0 "
            f"rounds the time differently {len(changes)} times in {followed} steps",
            where="time_step",
            hint="Choose rounder ones, such as 0.125",
        )
    return tuple(changes)


def integrator_of(version: str | None) -> str:
    """Return the version that brought the integrator of a version: 2.0.0 or 2.1.0."""
    found = re.match(r"(\d{1,9})\.(\d{1,9})", version or "")
    if not found:
        raise NetworkError(
            "the document does not say which neat-python wrote it, and so how it is integrated",
            where="metadata.neat_python_version",
            hint="Add the version, such as '2.0.0' or '2.1.0'",
        )
    return "2.1.0" if (int(found[1]), int(found[2])) >= (2, 1) else "2.0.0"


class _Continuous(Unrolled):
    """Makes, for each sub-step, a drive and a state of every node.

    `late` tells how many sub-steps before the last one `advance` returns the states of.
    """

    def __init__(
        self, genes: Genes, version: str, lengths: list[float], swaps: tuple[int, ...]
    ) -> None:
        self._version, self._lengths, count = version, lengths, len(lengths)
        self._lag, self._late = (1, 0) if version == "2.1.0" else (2, 1)
        self._nodes = {node.key: node for node in genes.nodes if node.key not in genes.silent}
        self._silent = sorted({*genes.missing(strict=False), *genes.silent})
        super().__init__(genes, [*self._nodes, *self._silent], count)
        self._swap = self._add_swaps(swaps) if swaps and self._nodes else None
        self._returned = {key for key in genes.outputs if key in self._nodes and self._late}
        buffers = (-1, 0) if swaps else ()
        self.ids = {
            (key, "state", k): key
            if k == count and key not in self._returned
            else self.made.fresh_id()
            for k in (*buffers, *range(1, count + 1))
            for key in self._nodes
        }

    def integrated(self) -> Network:
        """Return the network of all of them."""
        made, genes = self.made, self._genes
        for key in self._silent:
            made.neuron(key, "", [])
        for key, node in self._nodes.items():
            if self._swap:
                self._add_buffers(key, *self._swap)
            for k, length in enumerate(self._lengths, 1):
                kept, rate = self._rates(node, length)
                drive = self._add_genes(self.name(key, "drive", k), node)
                self.connect_genes(key, drive, "state", k)
                reads = [(self.value(key, "state", k - self._lag), kept), ((drive, 0), rate)]
                self.neuron(key, "state", k, reads)
        for key in sorted(self._returned):
            self._add_returned(key)
        for key, node in holders(genes).items():
            holder = self._add_genes(holder_name(key), node)
            constant = node.numbers["time_constant"] / self._lengths[0]
            made.connect((holder, 0), key, constant, enabled=False)
        for key in (*genes.inputs, *self._silent):
            for gene in self.into[key]:  # they are disabled
                made.connect((gene.source, 0), key, gene.weight, enabled=False)
        return self.network(f"{name} {self._version}")

    def _add_genes(self, name: str, node: NodeGene) -> int:
        """Add a neuron with the genes of a node; returns its id."""
        functions = {
            kind: name_in_network(getattr(node, kind), kind, f"{node.where}.{kind}")
            for kind in KINDS
        }
        return self.made.helper(name, [], bias=node.bias, response=node.response, **functions)

    def _add_swaps(self, changes: tuple[int, ...]) -> tuple[int, int]:
        """Add neurons that are 1 at steps with one more sub-step, and 0 at them; and warn."""
        followed = _MAX_SUB_STEPS_FOLLOWED // self.count
        warn(
            f"neat-python 2.0.0 rounds the time so that some steps, the first of them step "
            f"{changes[0] + 1}, have one more sub-step: these steps are known by their "
            f"number, which is right for the first {followed} steps after a reset"
        )
        made, counter = self.made, self.made.fresh_id()
        made.neuron(counter, "number of the step", [((counter, 1), 1.0)], bias=1.0)
        reads = []
        for at, step in enumerate(changes):
            since = made.helper(
                f"from step {step + 1} on",
                [((counter, 0), 1.0)],
                activation="step",
                bias=-step - 0.5,
            )
            reads.append(((since, 0), (-1.0) ** at))
        swaps = made.helper("buffers swap", reads)
        return swaps, made.helper("buffers stay", [((swaps, 0), -1.0)], bias=1.0)

    def _add_buffers(self, key: int, swaps: int, stays: int) -> None:
        """The states that the first sub-step reads, where they may have changed places."""
        last, before = (self.value(key, "state", self.count - k)[0] for k in (0, 1))
        for k, (usual, swapped) in ((0, (last, before)), (-1, (before, last))):
            own = self.ids[key, "state", k]
            buffer = self.made.neuron(own, f"node {key} buffer {1 + k}", [])
            for source, gater in ((usual, stays), (swapped, swaps)):
                self.made.connect((source, 1), buffer, 1.0, gater=gater, gate_delay=1)

    def _add_returned(self, key: int) -> None:
        """The value of a node that `advance` returns: the state before the last one."""
        last, late = (self.value(key, "state", self.count - k) for k in (0, self._late))
        if self._swap is None:
            self.made.neuron(key, "", [(late, 1.0)])
            return
        self.made.neuron(key, "", [])
        for value, gater in zip((last, late), self._swap, strict=True):
            self.made.connect(value, key, 1.0, gater=gater)

    def _rates(self, node: NodeGene, length: float) -> tuple[float, float]:
        """The weights of the state before and of the drive, in a sub-step of this length."""
        constant = node.numbers["time_constant"]
        ratio = length / constant if constant else math.nan
        if self._version == "2.1.0" and ratio > -700.0:
            return math.exp(-ratio), -math.expm1(-ratio)
        if self._version == "2.0.0" and math.isfinite(ratio):
            return 1.0 - ratio, ratio
        raise NetworkError(
            f"time_constant {constant:g} of node {node.key} is too small",
            where=f"{node.where}.time_constant",
        )
