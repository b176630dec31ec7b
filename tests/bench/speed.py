"""How fast the engine and the page are: writes the table of docs/speed.md.

    python tests/bench/speed.py             every row; exits 1 if a bound is missed
    python tests/bench/speed.py --small     small sizes, printed alone: whether it runs
    python tests/bench/speed.py --no-page   without the rows that need the built page

Each row is a ratio to something plain that is measured in the same run: the two in turn, so that a
busy machine slows both, and the medians of their times.
"""

import argparse
import json
import math
import os
import random
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from typing import Any

import neat
import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import helper, numpy_helper, parser
from rows import Row, replaced, table

import neat_onnx
from neat_onnx import Network, Population

SMALL = "--small" in sys.argv
MILLION = [100, 50, 80, 12] if SMALL else [1000, 500, 800, 125]  # layers: 1,000,000 connections
HIDDEN, INPUTS, OUTPUTS = 200, 8, 4
BATCH = 1024
STEPS = 50 if SMALL else 1000
MEMBERS = 20 if SMALL else 512
SUBSTRATE = 20 if SMALL else 180  # neurons of each of three layers
GENERATIONS, GENOMES, EPISODES = 2 if SMALL else 40, 150, 4


def medians(*works: Callable[[], Any], repeats: int = 7) -> list[float]:
    """The median time of each of `works` in seconds, taken in turn."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(1 if SMALL else repeats):
        for work, taken in zip(works, times, strict=True):
            begin = time.perf_counter()
            work()
            taken.append(time.perf_counter() - begin)
    return [statistics.median(taken) for taken in times]


def faster(what: str, ours: float, plain: float, bound: float | None, unit: float = 1e3) -> Row:
    """The row of how many times faster ours is."""
    name = {1.0: "s", 1e3: "ms", 1e6: "µs"}[unit]
    detail = f"{ours * unit:.3g} {name} to {plain * unit:.3g} {name}"
    return Row(f"{what}, times faster", plain / ours, bound, True, detail)


def peak() -> float:
    """The largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def alone(work: Callable[[], dict[str, float]]) -> dict[str, float]:
    """What a function returns in a process of its own, on one thread.

    There its memory can be measured, and on a busy machine the threads of a matrix product do not
    wait for one another.
    """
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work).result()


def session(model: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


# --- large networks -------------------------------------------------------------------------------


def million() -> dict[str, float]:
    net = Network.mlp(MILLION, activation="tanh", seed=0)
    text = neat_onnx.export(net).to_json()
    export_peak = peak()
    numbers = [*net.connections.weight.tolist(), *net.neurons.bias.tolist()]
    dumps, exported, loads, imported = medians(
        lambda: json.dumps(numbers),
        lambda: neat_onnx.export(net).to_json(),
        lambda: json.loads(text),
        lambda: neat_onnx.import_model(text),
        repeats=5,
    )
    assert neat_onnx.import_model(text) == net
    found = {"dumps": dumps, "export": exported, "loads": loads, "import": imported}
    return found | {"export_peak": export_peak, "peak": peak(), "count": len(net.connections)}


def million_rows() -> Iterator[Row]:
    found = alone(million)
    what = f"{found['count']:,} connections"
    for title, ours, plain, bound in (
        ("network → JSON ONNX text, times json.dumps of its numbers", "export", "dumps", 3),
        ("text → network, times json.loads of the text", "import", "loads", 2),
    ):
        detail = f"{found[ours]:.2f} s to {found[plain]:.2f} s"
        yield Row(f"{what}: {title}", found[ours] / found[plain], bound, False, detail)
    detail = f"export alone {found['export_peak']:.0f}"
    yield Row(f"{what}: peak memory, MB", found["peak"], 1024, False, detail)


LENET = """<ir_version: 8, opset_import: ["": 18]>
lenet (float[N, 1, 28, 28] x) => (float[N, 10] y) {
    z1 = Conv <pads = [2, 2, 2, 2]> (x, w1, b1)    a1 = Relu (z1)
    p1 = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (a1)
    z2 = Conv (p1, w2, b2)    a2 = Relu (z2)
    p2 = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (a2)
    flat = Flatten (p2)
    z3 = Gemm <transB = 1> (flat, w3, b3)    a3 = Relu (z3)
    z4 = Gemm <transB = 1> (a3, w4, b4)    a4 = Relu (z4)
    y = Gemm <transB = 1> (a4, w5, b5)
}"""
SHAPES = ((6, 1, 5, 5), (16, 6, 5, 5), (120, 400), (84, 120), (10, 84))


def lenet() -> dict[str, float]:
    """Seconds of each part, done once, as a person would; and what it takes of memory."""
    model, draw = parser.parse_model(LENET), np.random.default_rng(0)
    for k, shape in enumerate(SHAPES, 1):
        weights = draw.normal(size=shape) / np.sqrt(np.prod(shape[1:]))
        for name, values in ((f"w{k}", weights), (f"b{k}", draw.normal(size=shape[0]))):
            model.graph.initializer.append(numpy_helper.from_array(np.float32(values), name))
    x, found = np.random.default_rng(1).normal(size=(64, 784)).astype(np.float32), {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        begin = time.perf_counter()
        result = work()
        found[name] = time.perf_counter() - begin
        return result

    net = timed("import", lambda: neat_onnx.import_model(model))
    y = timed("run of 64 samples", lambda: net.activate(x))
    back = timed("export", lambda: neat_onnx.export(net).to_bytes())
    text = timed("network to JSON", net.to_json)
    assert neat_onnx.load_network(text) == net
    for each in (model.SerializeToString(), back):
        (want,) = session(each).run(None, {"x": x.reshape(-1, 1, 28, 28)})
        np.testing.assert_allclose(y, want, atol=1e-5)
    return found | {"MB": peak(), "neurons": len(net), "connections": len(net.connections)}


def lenet_rows() -> Iterator[Row]:
    found = alone(lenet)
    megabytes, neurons = found.pop("MB"), found.pop("neurons")
    what = f"LeNet, {neurons:,} neurons, {found.pop('connections'):,} connections"
    for name, value in found.items():
        yield Row(f"{what}: {name}, s", value, 3, False)
    yield Row(f"{what}: peak memory, MB", megabytes, 1024, False)


# --- evolved networks -----------------------------------------------------------------------------

Gene = tuple[int, float, list[tuple[int, float]]]
"""A neuron: its id, its bias, and its links (source, weight)."""


def evolved(seed: int = 0, hidden: int = HIDDEN) -> list[Gene]:
    """Hidden and output neurons, in order: about four links into each, and every neuron is read."""
    draw = np.random.default_rng(seed)
    first_output = INPUTS + hidden
    genes: list[Gene] = []
    for j in range(INPUTS, first_output + OUTPUTS):
        sources = draw.choice(min(j, first_output), 4, replace=False)
        links = [(int(i), float(draw.normal() / 2)) for i in sorted(sources)]
        genes.append((j, float(draw.normal()), links))
    read = {source for _, _, links in genes for source, _ in links}
    for j in sorted(set(range(first_output)) - read):
        reader = int(draw.integers(max(j + 1 - INPUTS, 0), len(genes)))  # a later one
        genes[reader][2].append((j, float(draw.normal() / 2)))
    return genes


def peer_of(genes: list[Gene], inputs: int = INPUTS, outputs: int = OUTPUTS) -> Any:
    """The network as neat-python evaluates it."""
    tanh, total = neat.activations.tanh_activation, neat.aggregations.sum_aggregation
    evals = [(j, tanh, total, bias, 1.0, links) for j, bias, links in genes]
    ends = [j for j, _, _ in genes[-outputs:]]
    return neat.nn.FeedForwardNetwork(list(range(inputs)), ends, evals)


NAIVE = """<ir_version: 8, opset_import: ["": 18]> naive (float[N, {inputs}] input) =>
(float[N, {outputs}] output) {{ {first} = Split <axis = 1, num_outputs = {inputs}> (input)
{nodes} output = Concat <axis = 1> ({last}) }}"""


def one_node_per_connection(genes: list[Gene]) -> bytes:
    """The same network as naive converters write it: a Mul and an Add for each connection."""
    nodes, constants = [], {}
    for j, bias, links in genes:
        total = f"b{j}"
        constants[total] = 2.5 * bias  # neat-python's tanh is of 2.5 · z
        for k, (i, weight) in enumerate(links):
            constants[f"w{j}_{k}"] = 2.5 * weight
            nodes.append(f"p{j}_{k} = Mul (n{i}, w{j}_{k})")
            nodes.append(f"s{j}_{k} = Add ({total}, p{j}_{k})")
            total = f"s{j}_{k}"
        nodes.append(f"n{j} = Tanh ({total})")
    text = NAIVE.format(
        inputs=INPUTS,
        outputs=OUTPUTS,
        first=", ".join(f"n{j}" for j in range(INPUTS)),
        nodes="\n".join(nodes),
        last=", ".join(f"n{j}" for j, _, _ in genes[-OUTPUTS:]),
    )
    model: onnx.ModelProto = parser.parse_model(text)
    for name, value in constants.items():
        model.graph.initializer.append(helper.make_tensor(name, 1, [1], [value]))
    return model.SerializeToString()


def evolved_rows() -> Iterator[Row]:
    genes = evolved()
    net = neat_onnx.load_network(peer_of(genes))
    ours, naive = neat_onnx.export(net).to_bytes(), one_node_per_connection(genes)
    here, there = session(ours), session(naive)
    x = {"input": np.random.default_rng(1).normal(size=(1, INPUTS)).astype(np.float32)}
    np.testing.assert_allclose(here.run(None, x)[0], there.run(None, x)[0], atol=1e-4)
    run_there, run_here, create_there, create_here = medians(
        lambda: [there.run(None, x) for _ in range(100)],
        lambda: [here.run(None, x) for _ in range(100)],
        lambda: session(naive),
        lambda: session(ours),
        repeats=15,
    )
    links = len(net.connections)
    what = f"{HIDDEN} hidden, {links} connections, to one node per connection"
    yield faster(f"{what}: onnxruntime at N = 1", run_here / 100, run_there / 100, 8, 1e6)
    yield faster(f"{what}: session create", create_here, create_there, 10)


def activate() -> dict[str, float]:
    """Times of `Network.activate` and of neat-python's, of the same networks."""
    xor = [(j, 0.5, [(0, 1.5), (1, -j / 2)]) for j in range(2, 6)]
    xor.append((6, -0.5, [(j, 1.0 / j) for j in range(2, 6)]))
    found: dict[str, float] = {}
    for genes, inputs, outputs in (
        (xor, 2, 1),
        (evolved(), INPUTS, OUTPUTS),
        (evolved(hidden=1000), INPUTS, OUTPUTS),
    ):
        peer = peer_of(genes, inputs, outputs)
        net = neat_onnx.load_network(peer)
        x = np.random.default_rng(1).normal(size=(BATCH, inputs))
        few = x[:64].tolist()
        np.testing.assert_allclose(net.activate(x[:64]), [peer.activate(row) for row in few], 1e-9)
        times = medians(
            partial(lambda peer, rows: [peer.activate(row) for row in rows], peer, few),
            partial(lambda net, rows: [net.activate(row) for row in rows], net, few),
            partial(lambda run, rows: [run(row) for row in rows], net.compile(), few),
            partial(net.activate, x),
            repeats=15,
        )
        for name, each in zip(("peer", "single", "compiled"), times, strict=False):
            found[f"{len(net)} {name}"] = each / 64
        found[f"{len(net)} many"] = times[3] / BATCH
    return found


def activate_rows() -> Iterator[Row]:
    found = alone(activate)
    for neurons, kind, what, bound in (
        (7, "single", "activate at N = 1", 1.5),
        (212, "single", "activate at N = 1", 1.2),
        (1012, "single", "activate at N = 1", 1.2),
        (7, "compiled", "net.compile() at N = 1", None),
        (212, "many", f"activate at N = {BATCH}, a sample", 60),
    ):
        ours, peer = found[f"{neurons} {kind}"], found[f"{neurons} peer"]
        yield faster(f"{neurons} neurons: {what}, to neat-python", ours, peer, bound, 1e6)


def substrate() -> dict[str, float]:
    """Seconds of a HyperNEAT substrate, and of the query a connection that pureples makes.

    The CPPN is evolved, of 13 neurons; pureples then adds a little for its lists.
    """
    draw = np.random.default_rng(3)
    genes = []
    for j in range(5, 13):
        sources = draw.choice(j, 4, replace=False).tolist()
        genes.append((j, 0.0, [(i, float(draw.normal())) for i in sources]))
    cppn = peer_of(genes, 5, 1)
    net = neat_onnx.load_network(cppn)
    places = np.linspace(-1, 1, SUBSTRATE)
    layers = [[(float(x), y) for x in places] for y in (-1.0, 0.0, 1.0)]

    def queried() -> dict[tuple[int, int], float]:
        weights = {}
        for at, (below, above) in enumerate(pairwise(layers)):
            for row, (x2, y2) in enumerate(above, SUBSTRATE * (at + 1)):
                for column, (x1, y1) in enumerate(below, SUBSTRATE * at):
                    w = cppn.activate([x1, y1, x2, y2, 1.0])[0]
                    if abs(w) > 0.2:
                        weights[column, row] = (w - 0.2 if w > 0 else w + 0.2) / 0.8 * 5.0
        return weights

    found, want = neat_onnx.substrate_network(net, layers).connections, queried()
    got = zip(found.source.tolist(), found.target.tolist(), found.weight.tolist(), strict=True)
    error = max(abs(want.pop((i, j)) - weight) for i, j, weight in got)
    assert not want and error <= 1e-12
    peer, ours = medians(queried, lambda: neat_onnx.substrate_network(net, layers))
    return {"peer": peer, "ours": ours, "connections": len(found)}


def substrate_rows() -> Iterator[Row]:
    found = alone(substrate)
    what = f"HyperNEAT, {found['connections']:,} connections, to query by query"
    yield faster(what, found["ours"], found["peer"], 40)


def scan_rows() -> Iterator[Row]:
    """A recurrent network over a long sequence: one Scan against neat-python's loop.

    The weights are small enough that rounding does not grow from step to step.
    """
    draw = np.random.default_rng(2)
    tanh, total = neat.activations.tanh_activation, neat.aggregations.sum_aggregation
    evals = []
    for neuron in range(HIDDEN):
        sources = np.unique(draw.integers(-INPUTS, HIDDEN, 5)).tolist()
        links = [(source, 0.1 * draw.normal()) for source in sources]
        evals.append((neuron, tanh, total, 0.1 * draw.normal(), 1.0, links))
    peer = neat.nn.RecurrentNetwork(list(range(-INPUTS, 0)), list(range(OUTPUTS)), evals)
    net = neat_onnx.load_network(peer)
    model = session(neat_onnx.export(net, sequence=True).to_bytes())
    x = draw.normal(size=(STEPS, 1, INPUTS)).astype(np.float32)

    def loop() -> list[list[float]]:
        peer.reset()
        return [list(peer.activate(row)) for row in x[:, 0].tolist()]

    np.testing.assert_allclose(model.run(None, {"input": x})[0][:, 0], loop(), atol=1e-5)
    slow, fast, ours = medians(
        loop, lambda: model.run(None, {"input": x}), lambda: net.run(x[:, 0])
    )
    what = f"{HIDDEN} recurrent neurons, {STEPS} steps, to neat-python"
    yield faster(f"{what}: Scan in onnxruntime", fast, slow, 20)
    yield faster(f"{what}: `Network.run`", ours, slow, None)


# --- generations ----------------------------------------------------------------------------------


def population_rows() -> Iterator[Row]:
    """Networks of 24 to 40 neurons, one step of one sample each, in one call."""
    draw = np.random.default_rng(0)
    genes = [evolved(seed, int(draw.integers(20, 37))) for seed in range(MEMBERS)]
    peers = [peer_of(each) for each in genes]
    population = Population([neat_onnx.load_network(peer) for peer in peers])
    model = session(neat_onnx.export(population.network).to_bytes())
    x = draw.normal(size=(MEMBERS, 1, INPUTS)).astype(np.float32)

    def loop() -> list[list[float]]:
        return [peer.activate(row) for peer, row in zip(peers, x[:, 0].tolist(), strict=True)]

    def as_model() -> Any:
        return model.run(None, {"input": x.swapaxes(0, 1)})[0]

    np.testing.assert_allclose(as_model()[0], loop(), atol=1e-4)
    ours, exported, plain = medians(lambda: population.activate(x), as_model, loop)
    what = f"population of {MEMBERS}, a step, to neat-python's loop"
    yield faster(f"{what}: Population.activate", ours, plain, 10)
    yield faster(f"{what}: as one model in onnxruntime", exported, plain, 5)


def configured(*, feed_forward: bool) -> Any:
    """A configuration of neat-python for the pole on a cart."""
    _, config = neat_onnx.to_neat_python(Network.mlp([4, 1], activation="neat_tanh"))
    config.pop_size, config.fitness_threshold, config.no_fitness_termination = GENOMES, 1e9, True
    genome = config.genome_config
    genome.feed_forward, genome.initial_connection = feed_forward, "full_direct"
    genome.conn_add_prob = genome.node_add_prob = 0.3
    genome.conn_delete_prob = genome.node_delete_prob = 0.1
    genome.weight_mutate_rate, genome.weight_mutate_power, genome.weight_init_stdev = 0.8, 0.5, 1.0
    genome.bias_mutate_rate, genome.bias_mutate_power, genome.bias_init_stdev = 0.7, 0.5, 1.0
    return config


Floats = NDArray[np.float64]
STARTS: Floats = np.random.default_rng(0).uniform(-0.4, 0.4, (EPISODES, 4))


def moved(state: Any, force: Any, sin: Any, cos: Any) -> Any:
    """One step of cart and pole, of numbers or of arrays: (x, velocity, angle, its velocity)."""
    x, dx, angle, spin = state
    s, c = sin(angle), cos(angle)
    pushed = (force + 0.05 * spin * spin * s) / 1.1
    turn = (9.8 * s - c * pushed) / (0.5 * (4.0 / 3.0 - 0.1 * c * c / 1.1))
    speed = dx + 0.02 * (pushed - 0.05 * turn * c / 1.1)
    return x + 0.02 * dx, speed, angle + 0.02 * spin, spin + 0.02 * turn


def own_loop(genomes: list[Any], config: Any) -> None:
    """The fitness as neat-python's users compute it."""
    recurrent = not config.genome_config.feed_forward
    kind = neat.nn.RecurrentNetwork if recurrent else neat.nn.FeedForwardNetwork
    for _, genome in genomes:
        net, total = kind.create(genome, config), 0
        for start in STARTS.tolist():
            state = tuple(start)
            if recurrent:
                net.reset()
            for _ in range(200):
                force = 10.0 if net.activate(state)[0] > 0.0 else -10.0
                state = moved(state, force, math.sin, math.cos)
                if abs(state[0]) > 2.4 or abs(state[2]) > 0.6:
                    break
                total += 1
        genome.fitness = total - 0.01 * abs(state[0])


def together(genomes: list[Any], config: Any) -> None:
    """The same, all genomes and episodes at once."""
    population = Population.from_neat_python(genomes, config)
    memory = population.initial_state(EPISODES)
    state = np.repeat(STARTS.T[:, None], len(genomes), axis=1)
    balanced, total = np.ones(state.shape[1:], np.bool_), np.zeros(len(genomes))
    for _ in range(200):
        outputs, memory = population.step(np.moveaxis(state, 0, -1), memory)
        force = np.where(outputs[..., 0] > 0.0, 10.0, -10.0)
        state = np.where(balanced, np.array(moved(state, force, np.sin, np.cos)), state)
        balanced &= (np.abs(state[0]) <= 2.4) & (np.abs(state[2]) <= 0.6)
        total += balanced.sum(axis=1)
        if not balanced.any():
            break
    ends = np.abs(state[0, :, -1]).tolist()
    for (_, genome), steps, end in zip(genomes, total.tolist(), ends, strict=True):
        genome.fitness = steps - 0.01 * end


def run_rows() -> Iterator[Row]:
    """Whole runs: reproduction, speciation, reading the genomes, physics; processor seconds."""
    for feed_forward in (True, False):
        times, champions = [], []
        for fitness in (own_loop, together):
            config = configured(feed_forward=feed_forward)
            random.seed(1)
            begin = time.process_time()
            champion = neat.Population(config, seed=1).run(fitness, GENERATIONS)
            times.append(time.process_time() - begin)
            champions.append((champion.key, champion.fitness))
        assert champions[0] == champions[1]
        kind = "feed-forward" if feed_forward else "recurrent"
        what = f"a whole {kind} run of neat-python, {GENOMES} genomes × {GENERATIONS} generations"
        yield faster(f"{what}, with Population", times[1], times[0], 3, 1.0)


def genome_rows() -> Iterator[Row]:
    """One genome at a time, where neat-python is quicker: nothing is checked there."""
    genome, config = neat_onnx.to_neat_python(Network.mlp([4, 6, 2], activation="neat_tanh"))
    net = neat_onnx.load_network(genome, config=config)
    create, load, export = medians(
        lambda: [neat.nn.FeedForwardNetwork.create(genome, config) for _ in range(20)],
        lambda: [neat_onnx.load_network(genome, config=config) for _ in range(20)],
        lambda: [neat_onnx.export(net) for _ in range(20)],
    )
    what = f"a genome of {len(net.connections)} connections"
    detail = f"{load * 50:.2f} ms to {create * 50:.2f} ms"
    slower = f"{what}: load_network, times as long as neat-python's create"
    yield Row(slower, load / create, None, False, detail)
    yield Row(f"{what}: export, ms", export * 50, None, False)


ROWS = (
    *(million_rows, evolved_rows, activate_rows, substrate_rows, scan_rows),
    *(run_rows, population_rows, genome_rows, lenet_rows),
)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--small", action="store_true")
    arguments.add_argument("--no-page", action="store_true")
    given = arguments.parse_args()
    warnings.simplefilter("ignore", neat_onnx.NeatOnnxWarning)
    found = [row for rows in ROWS for row in rows()]
    if not given.no_page:
        from page import page_rows

        found += page_rows(small=SMALL)
    if SMALL:  # whose ratios have no meaning
        found = [row._replace(bound=None) for row in found]
    print(table(found))
    if not (SMALL or given.no_page):
        replaced("speed.md", "speed", table(found))
    return 0 if all(row.met for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
