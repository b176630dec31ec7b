"""Networks of neat-python whose step is an amount of time, compiled: ctrnn and iznn.

One step of a network is an `advance` of one or more sub-steps, in each of which every node has
neurons of its own.

**ctrnn.** In each sub-step, every node has a *drive*, the activation of its
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

**iznn.** Each neuron is Izhikevich's: a potential v and a recovery u, driven by a current I, which
is the bias and the weighted spikes of the advance before or the inputs. One advance by dt is two
half steps of v with the same u, and then one step of u with the new v:

    v += dt/2 · (0.04 v² + 5 v + 140 - u + I)      (twice)
    u += dt · a · (b v - u)

Where v > 30 then, it fires: v = c and u += d. At the start v = c and u = b c.

neat-python also resets a neuron, without a spike, where v², v or u overflows; from there on, this
network is not neat-python's. Far from the usual potentials each half step about squares v, and u
carries that on after a spike: with dt = 1 a single current of 1e100 leads there in the next
advance, one of 1e20 in four, one of 1e5 in nine.
"""

import math
import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import Any

from neat_onnx.arguments import is_number
from neat_onnx.errors import NetworkError, OptionError, warn
from neat_onnx.libraries.genome_graph import Edge, NetworkBuilder, Value
from neat_onnx.libraries.neat_python.functions import ROLES, name_in_network
from neat_onnx.libraries.neat_python.genes import Genes, NodeGene
from neat_onnx.libraries.neat_python.static import HOLDS, holders
from neat_onnx.network.network import Network

_CTRNN, _IZNN = "neat-python ctrnn", "neat-python iznn"
MAX_SUB_STEPS = 1000  # each one is a copy of every neuron
_ROUNDING = 1e-15


@dataclass(frozen=True)
class Times:
    """The caller's times: of a step of the integration, and of one step of the network."""

    time_step: Any = None
    advance_time: Any = None

    def refuse(self) -> None:
        """Raise OptionError if any was given: the network's own steps are no amount of time."""
        for name, value in vars(self).items():
            if value is not None:
                raise OptionError(f"{name} is for ctrnn and iznn networks", where=name)

    def of(self, kind: str) -> tuple[float, float]:
        """Both times, for a network of this kind."""
        if self.time_step is None:
            raise OptionError(
                f"JSON of {kind} networks does not say their time step",
                where="time_step",
                hint="Give time_step, and advance_time if one step of the network is to be longer "
                "(command line: --time-step, --advance-time)",
            )
        for name, value in vars(self).items():
            is_positive = is_number(value) and 0.0 < value <= sys.float_info.max
            if value is not None and not is_positive:
                raise OptionError(f"{name} should be a positive number, got {value!r}", where=name)
        advance = self.time_step if self.advance_time is None else self.advance_time
        return float(self.time_step), float(advance)


def sub_steps(time_step: float, advance_time: float) -> list[float]:
    """The lengths of the sub-steps in `advance_time`; the last is shorter if they do not fit.

    0.3 is three times 0.1, although their doubles are not.
    """
    ratio = advance_time / time_step
    if ratio > MAX_SUB_STEPS:
        raise OptionError(
            f"advance_time {advance_time:g} is more than {MAX_SUB_STEPS} times time_step "
            f"{time_step:g}",
            where="advance_time",
            hint="Run the network for several steps instead",
        )
    count = max(1, round(ratio))
    if not math.isclose(ratio, count, rel_tol=_ROUNDING):
        count = max(1, math.ceil(ratio))
    return [time_step] * (count - 1) + [advance_time - (count - 1) * time_step]


class Unrolled:
    """The neurons of nodes in each sub-step of a step, and the parts that a node consists of.

    Attributes:
        made: the neurons so far.
        count: the number of sub-steps.
        ids: of the neurons that others read, by the key of the node, the part and the sub-step.
    """

    word = "sub-step"

    def __init__(self, genes: Genes, taken: list[int], count: int) -> None:
        self._genes, self.count = genes, count
        self.made = NetworkBuilder([*genes.inputs, *taken])
        self.ids: dict[tuple[int, str, int], int] = {}
        self.into: dict[int, list[Edge]] = defaultdict(list)
        for gene in genes.connections:
            self.into[gene.target].append(gene)

    def value(self, key: int, part: str, k: int) -> Value:
        """The value of a part after sub-step k; values up to k = 0 are from the step before."""
        if (key, part, 1) not in self.ids:  # an input, or a node that stays 0
            return key, 0
        if (key, part, k) in self.ids:
            return self.ids[key, part, k], 0
        steps, k = divmod(k - 1, self.count)
        return self.ids[key, part, k + 1], -steps

    def connect_genes(self, key: int, target: int, part: str, k: int) -> None:
        """Add the connections into a node; disabled ones in the last sub-step alone."""
        for gene in self.into[key]:
            if gene.enabled or k == self.count:
                source = self.value(gene.source, part, k - 1)
                self.made.connect(source, target, gene.weight, enabled=gene.enabled)

    def neuron(self, key: int, part: str, k: int, reads: Any, **gene: Any) -> None:
        """Add the neuron of a part that others read."""
        own = self.ids[key, part, k]
        self.made.neuron(own, "" if own == key else self.name(key, part, k), reads, **gene)

    def helper(self, key: int, part: str, k: int, reads: Any, **gene: Any) -> int:
        """Add the neuron of another part; returns its id."""
        return self.made.helper(self.name(key, part, k), reads, **gene)

    def name(self, key: int, part: str, k: int) -> str:
        """The name of a part of a node in a sub-step."""
        return f"node {key} {part}" + (f", {self.word} {k}" if self.count > 1 else "")

    def network(self, library: str) -> Network:
        """The network of all of them."""
        return self.made.network(self._genes.inputs, self._genes.outputs, library)


_MAX_SUB_STEPS_FOLLOWED = 300_000
_MAX_CHANGES = 100


def ctrnn_network(genes: Genes, times: Times) -> Network:
    """Return the network, one step of which is `net.advance(inputs, advance_time, time_step)`."""
    version = _integrator_of(genes.version)
    step, advance = times.of(_CTRNN)
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


def _integrator_of(version: str | None) -> str:
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
            holder = self._add_genes(f"{HOLDS}{key}", node)
            constant = node.numbers["time_constant"] / self._lengths[0]
            made.connect((holder, 0), key, constant, enabled=False)
        for key in (*genes.inputs, *self._silent):
            for gene in self.into[key]:  # they are disabled
                made.connect((gene.source, 0), key, gene.weight, enabled=False)
        return self.network(f"{_CTRNN} {self._version}")

    def _add_genes(self, name: str, node: NodeGene) -> int:
        """Add a neuron with the genes of a node; returns its id."""
        functions = {
            kind: name_in_network(getattr(node, kind), kind, f"{node.where}.{kind}")
            for kind in ROLES
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
        text = f"time_constant {constant:g} of node {node.key} is too small"
        raise NetworkError(text, where=f"{node.where}.time_constant")


_THRESHOLD = 30.0


def iznn_network(genes: Genes, times: Times) -> Network:
    """Return the network, one step of which is `net.advance(time_step)` until it is over."""
    genes.missing(strict=True)
    step, advance = times.of(_IZNN)
    advances = len(sub_steps(step, advance))
    if not math.isclose(advance, advances * step, rel_tol=1e-12):
        raise OptionError(
            f"advance_time {advance:g} is no whole number of time steps of {step:g}",
            where="advance_time",
            hint="An iznn network advances by whole time steps",
        )
    spiking = _Spiking(genes, step, advances)
    for k in range(1, advances + 1):
        for node in genes.nodes:
            spiking.add(node, k)
    return spiking.network(_IZNN)


class _Spiking(Unrolled):
    """Makes, for each advance by dt within a step, the plain neurons of every spiking one."""

    word = "advance"

    def __init__(self, genes: Genes, dt: float, advances: int) -> None:
        keys = [node.key for node in genes.nodes]
        super().__init__(genes, keys, advances)
        self._dt = dt
        self.ids = {
            (key, part, k): key if (part, k) == ("fired", advances) else self.made.fresh_id()
            for k in range(1, advances + 1)
            for key in keys
            for part in ("fired", "potential", "recovery")
        }

    def add(self, node: NodeGene, k: int) -> None:
        """Add one advance of one neuron."""
        key, half = node.key, self._dt / 2.0
        a, b, c, d = (node.numbers[name] for name in "abcd")
        current = self.helper(key, "current", k, [], bias=node.bias)
        self.connect_genes(key, current, "fired", k)
        recovery, v = (self.value(key, part, k - 1) for part in ("recovery", "potential"))
        for part in ("first", "second"):
            square = self.helper(key, f"{part} square", k, [(v, 1.0)], activation="square")
            reads = [((square, 0), 0.04 * half), (v, 1.0 + 5.0 * half), (recovery, -half)]
            reads.append(((current, 0), half))
            v = self.helper(key, f"{part} half step", k, reads, bias=140.0 * half), 0
        spike = self.value(key, "fired", k)
        quiet = self.helper(key, "quiet", k, [(spike, -1.0)], bias=1.0)
        self.neuron(key, "fired", k, [(v, 1.0)], activation="step", bias=-_THRESHOLD)
        self.neuron(key, "potential", k, [(spike, c)], initial=c)
        self.made.connect(v, self.ids[key, "potential", k], 1.0, gater=quiet)
        decay = self._dt * a
        reads = [(recovery, 1.0 - decay), (v, decay * b), (spike, d)]
        self.neuron(key, "recovery", k, reads, initial=b * c)
