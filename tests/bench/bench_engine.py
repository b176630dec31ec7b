"""How fast the engine is, as ratios to something plain that is measured in the same run.

    python tests/bench/bench_engine.py      exits 1 if a bound is missed

Times are medians, of the plain thing and ours in turn, so that a busy machine slows both. Each is
on one thread.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import neat
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import neat_onnx
from neat_onnx.network.network import Network

MILLION = [1000, 500, 800, 125]  # layer sizes: 1,000,000 connections
HIDDEN, INPUTS, OUTPUTS = 200, 8, 4
BATCH = 1024
STEPS = 1000


class Row(NamedTuple):
    """A line of the table: `value` has to be at least, or at most, `bound`."""

    what: str
    value: float
    bound: float
    at_least: bool
    detail: str

    @property
    def met(self) -> bool:
        return self.value >= self.bound if self.at_least else self.value <= self.bound


def main() -> int:
    if sys.argv[1:]:
        print(
            json.dumps(
                {"million": million, "activate": activate, "substrate": substrate}[sys.argv[1]]()
            )
        )
        return 0
    return table([*million_rows(), *evolved_rows(), *activate_rows(), substrate_row(), scan_row()])


def table(rows: list[Row]) -> int:
    """Print the rows; 1 if a bound is missed."""
    print("| what | measured | bound | |\n|---|---|---|---|")
    for row in rows:
        bound = f"{'≥' if row.at_least else '≤'} {row.bound:g}"
        met = "met" if row.met else "**missed**"
        print(f"| {row.what} | {row.value:.2f} ({row.detail}) | {bound} | {met} |")
    return 0 if all(row.met for row in rows) else 1


def medians(*works: Callable[[], Any], repeats: int = 7) -> list[float]:
    """The median time of each of `works` in seconds, taken in turn."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(repeats):
        for work, taken in zip(works, times, strict=True):
            begin = time.perf_counter()
            work()
            taken.append(time.perf_counter() - begin)
    return [statistics.median(taken) for taken in times]


def alone(name: str, script: str = __file__) -> dict[str, float]:
    """What the script's function of that name returns in a process of its own, on one thread.

    There its memory can be measured, and on a busy machine the threads of a matrix product do not
    wait for one another.
    """
    run = subprocess.run(
        [sys.executable, script, name],
        capture_output=True,
        check=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    found: dict[str, float] = json.loads(run.stdout)
    return found


# --- a million connections -----------------------------------------------------------------------


def million() -> dict[str, float]:
    """Seconds of each part, and the peak memory in MB."""
    net = Network.mlp(MILLION, activation="tanh", seed=0)
    text = neat_onnx.export(net).to_json()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    numbers = [*net.connections.weight.tolist(), *net.neurons.bias.tolist()]
    dumps, exported = medians(
        lambda: json.dumps(numbers), lambda: neat_onnx.export(net).to_json(), repeats=5
    )
    loads, imported = medians(
        lambda: json.loads(text), lambda: neat_onnx.import_model(text), repeats=5
    )
    assert neat_onnx.import_model(text) == net
    whole = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "dumps": dumps,
        "export": exported,
        "loads": loads,
        "import": imported,
        "export_peak": peak,
        "peak": whole,
        "megabytes": len(text) / 1e6,
    }


def million_rows() -> list[Row]:
    found = alone("million")
    return [
        Row(
            "1,000,000 connections: network → JSON ONNX text, times json.dumps of its numbers",
            found["export"] / found["dumps"],
            3,
            False,
            f"{found['export']:.2f} s to {found['dumps']:.2f} s, {found['megabytes']:.0f} MB",
        ),
        Row(
            "1,000,000 connections: text → network, times json.loads of the text",
            found["import"] / found["loads"],
            2,
            False,
            f"{found['import']:.2f} s to {found['loads']:.2f} s",
        ),
        Row(
            "1,000,000 connections: peak memory, MB",
            found["peak"],
            1024,
            False,
            f"export alone {found['export_peak']:.0f}",
        ),
    ]


# --- an evolved network --------------------------------------------------------------------------


class Gene(NamedTuple):
    """A neuron: its links are (source, weight)."""

    id: int
    bias: float
    links: list[tuple[int, float]]


def evolved(seed: int = 0, hidden: int = HIDDEN) -> list[Gene]:
    """Hidden and output neurons, in order: about four links into each, and every neuron is read."""
    random = np.random.default_rng(seed)
    first_output = INPUTS + hidden
    genes = []
    for j in range(INPUTS, first_output + OUTPUTS):
        before = min(j, first_output)
        sources = random.choice(before, 4, replace=False)
        links = [(int(i), float(random.normal() / 2)) for i in sorted(sources)]
        genes.append(Gene(j, float(random.normal()), links))
    read = {source for gene in genes for source, _ in gene.links}
    for j in sorted(set(range(first_output)) - read):
        reader = int(random.integers(max(j + 1 - INPUTS, 0), len(genes)))  # a later one
        genes[reader].links.append((j, float(random.normal() / 2)))
    return genes


def network_of(genes: list[Gene]) -> Network:
    return Network.build(
        inputs=INPUTS,
        outputs=[gene.id for gene in genes[-OUTPUTS:]],
        neurons=[{"id": gene.id, "activation": "tanh", "bias": gene.bias} for gene in genes],
        connections=[(i, gene.id, weight) for gene in genes for i, weight in gene.links],
    )


def one_node_per_connection(genes: list[Gene]) -> bytes:
    """The same network as naive converters write it: a Mul and an Add for each connection."""
    nodes, constants = [], []

    def constant(name: str, value: Any) -> str:
        constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    columns = [f"n{j}" for j in range(INPUTS)]
    nodes.append(helper.make_node("Split", ["input"], columns, axis=1, num_outputs=INPUTS))
    for gene in genes:
        total = constant(f"b{gene.id}", np.float32([gene.bias]))
        for k, (i, weight) in enumerate(gene.links):
            name = f"{gene.id}_{k}"
            w = constant(f"w{name}", np.float32([weight]))
            nodes.append(helper.make_node("Mul", [f"n{i}", w], [f"p{name}"]))
            nodes.append(helper.make_node("Add", [total, f"p{name}"], [f"s{name}"]))
            total = f"s{name}"
        nodes.append(helper.make_node("Tanh", [total], [f"n{gene.id}"]))
    outputs = [f"n{gene.id}" for gene in genes[-OUTPUTS:]]
    nodes.append(helper.make_node("Concat", outputs, ["output"], axis=1))
    ports = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", size])
        for name, size in (("input", INPUTS), ("output", OUTPUTS))
    ]
    graph = helper.make_graph(nodes, "naive", ports[:1], ports[1:], constants)
    opsets = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, ir_version=8, opset_imports=opsets).SerializeToString()


def session(model: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def evolved_rows() -> list[Row]:
    genes = evolved()
    net = network_of(genes)
    ours, naive = neat_onnx.export(net).to_bytes(), one_node_per_connection(genes)
    here, there = session(ours), session(naive)
    x = {"input": np.random.default_rng(1).normal(size=(1, INPUTS)).astype(np.float32)}
    np.testing.assert_allclose(here.run(None, x)[0], there.run(None, x)[0], atol=1e-5)

    def hundred(model: onnxruntime.InferenceSession) -> None:
        for _ in range(100):
            model.run(None, x)

    run_there, run_here = medians(lambda: hundred(there), lambda: hundred(here), repeats=15)
    create_there, create_here = medians(lambda: session(naive), lambda: session(ours), repeats=15)
    links = sum(len(gene.links) for gene in genes)
    what = f"{HIDDEN} hidden, {links} connections, to one node per connection"
    return [
        Row(
            f"{what}: onnxruntime at N=1, times faster",
            run_there / run_here,
            8,
            True,
            f"{run_here * 1e4:.0f} µs to {run_there * 1e4:.0f} µs",
        ),
        Row(
            f"{what}: session create, times faster",
            create_there / create_here,
            10,
            True,
            f"{create_here * 1e3:.1f} ms to {create_there * 1e3:.0f} ms",
        ),
    ]


def peer_of(genes: list[Gene], inputs: int, outputs: int) -> Any:
    """The network as neat-python evaluates it."""
    tanh, total = neat.activations.tanh_activation, neat.aggregations.sum_aggregation
    evals = [(gene.id, tanh, total, gene.bias, 1.0, gene.links) for gene in genes]
    ends = [gene.id for gene in genes[-outputs:]]
    return neat.nn.FeedForwardNetwork(list(range(inputs)), ends, evals)


def activate() -> dict[str, float]:
    """How many times faster than neat-python's own `Network.activate` is, on the same networks."""
    random = np.random.default_rng(1)
    xor = [Gene(j, 0.5, [(0, 1.5), (1, -j / 2)]) for j in range(2, 6)]
    xor.append(Gene(6, -0.5, [(j, 1.0 / j) for j in range(2, 6)]))
    found: dict[str, float] = {}
    for genes, inputs, outputs in (
        (xor, 2, 1),
        (evolved(), INPUTS, OUTPUTS),
        (evolved(hidden=1000), INPUTS, OUTPUTS),
    ):
        peer = peer_of(genes, inputs, outputs)
        net = neat_onnx.load_network(peer)
        x = random.normal(size=(BATCH, inputs))
        few = x[:64].tolist()
        np.testing.assert_allclose(net.activate(x[:64]), [peer.activate(row) for row in few], 1e-9)
        slow, single, many = medians(
            partial(lambda peer, rows: [peer.activate(row) for row in rows], peer, few),
            partial(lambda net, rows: [net.activate(row) for row in rows], net, few),
            partial(net.activate, x),
            repeats=15,
        )
        found |= {f"{len(net)} peer": slow / 64, f"{len(net)} single": single / 64}
        found[f"{len(net)} many"] = many / BATCH
    return found


def activate_rows() -> list[Row]:
    found = alone("activate")

    def row(neurons: int, samples: int, bound: float) -> Row:
        slow, fast = (
            found[f"{neurons} peer"],
            found[f"{neurons} {'single' if samples == 1 else 'many'}"],
        )
        return Row(
            f"{neurons} neurons: activate at N={samples} a sample, times neat-python's faster",
            slow / fast,
            bound,
            True,
            f"{fast * 1e6:.1f} µs to {slow * 1e6:.1f} µs",
        )

    return [row(7, 1, 1.5), row(212, 1, 1.2), row(1012, 1, 1.2), row(212, BATCH, 60)]


def substrate() -> dict[str, float]:
    """Seconds of a HyperNEAT substrate, and of the query a connection that pureples makes.

    The CPPN is evolved, of 13 neurons; pureples then adds a little for its lists.
    """
    random = np.random.default_rng(3)
    genes = []
    for j in range(5, 13):
        sources = random.choice(j, 4, replace=False).tolist()
        genes.append(Gene(j, 0.0, [(i, float(random.normal())) for i in sources]))
    cppn = peer_of(genes, 5, 1)
    net = neat_onnx.load_network(cppn)
    layers = [[(float(x), y) for x in np.linspace(-1, 1, 180)] for y in (-1.0, 0.0, 1.0)]

    def queried() -> dict[tuple[int, int], float]:
        weights = {}
        for at, (below, above) in enumerate(pairwise(layers)):
            for row, (x2, y2) in enumerate(above):
                for column, (x1, y1) in enumerate(below):
                    w = cppn.activate([x1, y1, x2, y2, 1.0])[0]
                    if abs(w) > 0.2:
                        scaled = (w - 0.2 if w > 0 else w + 0.2) / 0.8 * 5.0
                        weights[180 * at + column, 180 * (at + 1) + row] = scaled
        return weights

    found, want = neat_onnx.substrate_network(net, layers).connections, queried()
    got = zip(found.source.tolist(), found.target.tolist(), found.weight.tolist(), strict=True)
    error = max(abs(want.pop((i, j)) - weight) for i, j, weight in got)
    assert not want and error <= 1e-12
    peer, ours = medians(queried, lambda: neat_onnx.substrate_network(net, layers), repeats=7)
    return {"peer": peer, "ours": ours, "connections": len(found)}


def substrate_row() -> Row:
    found = alone("substrate")
    return Row(
        f"HyperNEAT, {found['connections']:.0f} connections: times faster than query by query",
        found["peer"] / found["ours"],
        40,
        True,
        f"{found['ours'] * 1e3:.1f} ms to {found['peer'] * 1e3:.0f} ms",
    )


def scan_row() -> Row:
    """A recurrent network over a long sequence: one Scan against neat-python's loop.

    The weights are small enough that rounding does not grow from step to step.
    """
    random = np.random.default_rng(2)
    tanh, total = neat.activations.tanh_activation, neat.aggregations.sum_aggregation
    evals = [
        (
            neuron,
            tanh,
            total,
            0.1 * random.normal(),
            1.0,
            [
                (int(source), 0.1 * random.normal())
                for source in np.unique(random.integers(-INPUTS, HIDDEN, 5))
            ],
        )
        for neuron in range(HIDDEN)
    ]
    keys = list(range(-INPUTS, 0))
    peer = neat.nn.RecurrentNetwork(keys, list(range(OUTPUTS)), evals)
    model = session(neat_onnx.export(neat_onnx.load_network(peer), sequence=True).to_bytes())
    x = random.normal(size=(STEPS, 1, INPUTS)).astype(np.float32)
    rows = x[:, 0].tolist()

    def loop() -> list[list[float]]:
        peer.reset()
        return [list(peer.activate(row)) for row in rows]

    np.testing.assert_allclose(model.run(None, {"input": x})[0][:, 0], loop(), atol=1e-5)
    slow, fast = medians(loop, lambda: model.run(None, {"input": x}))
    return Row(
        f"{HIDDEN} recurrent neurons, {STEPS} steps: Scan in onnxruntime, times faster",
        slow / fast,
        20,
        True,
        f"{fast * 1e3:.1f} ms to {slow * 1e3:.0f} ms",
    )


if __name__ == "__main__":
    sys.exit(main())
