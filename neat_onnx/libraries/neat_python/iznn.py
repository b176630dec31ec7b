"""neat-python's spiking networks (IZNN): `export_network_json(net)`, type iznn.

Each neuron is Izhikevich's: a potential v and a recovery u, driven by a current I, which is the
bias and the weighted spikes of the advance before or the inputs. One advance by dt is two half
steps of v with the same u, and then one step of u with the new v:

    v += dt/2 · (0.04 v² + 5 v + 140 - u + I)      (twice)
    u += dt · a · (b v - u)

Where v > 30 then, it fires: v = c and u += d. At the start v = c and u = b c.

neat-python also resets a neuron, without a spike, where v², v or u overflows; from there on, this
network is not neat-python's. Far from the usual potentials each half step about squares v, and u
carries that on after a spike: with dt = 1 a single current of 1e100 leads there in the next
advance, one of 1e20 in four, one of 1e5 in nine.
"""

import math

from neat_onnx.errors import OptionError
from neat_onnx.libraries.neat_python.genes import Genes, NodeGene
from neat_onnx.libraries.neat_python.times import Times, Unrolled, sub_steps
from neat_onnx.network.network import Network

name = "neat-python iznn"

_THRESHOLD = 30.0


def iznn_network(genes: Genes, times: Times) -> Network:
    """Return the network, one step of which is `net.advance(time_step)` until it is over."""
    genes.missing(strict=True)
    step, advance = times.of(name)
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
    return spiking.network(name)


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
