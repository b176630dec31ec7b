"""Speed of a population: 512 evolved networks, one sample each, in one call of onnxruntime.

Against the loop over `activate` that neat-python's users write, and against a session a network.
"""

import statistics
import time
from collections.abc import Callable

import neat
import numpy as np
import onnxruntime

import neat_onnx

MEMBERS, INPUTS, OUTPUTS = 512, 4, 2


Gene = tuple[int, float, list[tuple[int, float]]]


def evolved(seed: int) -> list[Gene]:
    """Mutate a network as NEAT does: connections are split by neurons, and forward ones are added.

    Returns:
        Genes (neuron, bias, links) of 24 to 40 neurons that compute, in order of evaluation.
    """
    random = np.random.default_rng(seed)
    outputs = list(range(INPUTS, INPUTS + OUTPUTS))
    links = {(i, j): random.normal() for i in range(INPUTS) for j in outputs}
    place = {**dict.fromkeys(range(INPUTS), 0.0), **dict.fromkeys(outputs, 1.0)}
    while len(place) < INPUTS + int(random.integers(24, 41)):
        i, j = list(links)[int(random.integers(len(links)))]
        new = len(place)
        place[new] = (place[i] + place[j]) / 2
        links[i, new], links[new, j] = 1.0, links.pop((i, j))
        for _ in range(2):
            i, j = random.choice(len(place), 2, replace=False).tolist()
            if place[i] < place[j]:
                links[i, j] = random.normal()
    order = sorted((j for j in place if j >= INPUTS), key=lambda j: (place[j], j))
    return [
        (j, float(random.normal()), [(i, float(w)) for (i, k), w in links.items() if k == j])
        for j in order
    ]


def in_neat_python(genes: list[Gene]) -> object:
    """The network as neat-python evaluates it."""
    act = neat.activations.tanh_activation
    nodes = [(j, act, sum, bias, 1.0, links) for j, bias, links in genes]
    outputs = list(range(INPUTS, INPUTS + OUTPUTS))
    return neat.nn.FeedForwardNetwork(list(range(INPUTS)), outputs, nodes)


def in_neat_onnx(genes: list[Gene]) -> neat_onnx.Network:
    """The same network here."""
    return neat_onnx.Network.build(
        inputs=INPUTS,
        outputs=list(range(INPUTS, INPUTS + OUTPUTS)),
        neurons=[{"id": j, "activation": "neat_tanh", "bias": bias} for j, bias, _ in genes],
        connections=[(i, j, weight) for j, _, links in genes for i, weight in links],
    )


def median(run: Callable[[], object], repeats: int) -> float:
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def session(model: neat_onnx.Model) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.to_bytes(), options)


def main() -> None:
    genes = [evolved(seed) for seed in range(MEMBERS)]
    peers, nets = [in_neat_python(each) for each in genes], [in_neat_onnx(each) for each in genes]
    x = np.random.default_rng(0).normal(size=(MEMBERS, 1, INPUTS))
    rows = x[:, 0].tolist()
    together = session(neat_onnx.export_population(nets))
    feed = {"input": x.astype(np.float32)}
    alone = [session(neat_onnx.export(net)) for net in nets]
    feeds = [{"input": row[None].astype(np.float32)} for row in x[:, 0]]
    want = np.array([peer.activate(row) for peer, row in zip(peers, rows, strict=True)])
    np.testing.assert_allclose(together.run(None, feed)[0][:, 0], want, atol=1e-4)
    ours = median(lambda: together.run(None, feed), 15)
    loop = median(lambda: [peer.activate(row) for peer, row in zip(peers, rows, strict=True)], 7)
    sessions = median(
        lambda: [each.run(None, one) for each, one in zip(alone, feeds, strict=True)], 7
    )
    print(
        f"| population of {MEMBERS}, a step of one sample each: times neat-python's loop faster "
        f"| {loop / ours:.0f} ({ours * 1e3:.2f} ms to {loop * 1e3:.0f} ms) | ≥ 100 |"
    )
    print(
        f"| the same: times {MEMBERS} sessions faster | {sessions / ours:.1f} "
        f"({ours * 1e3:.2f} ms to {sessions * 1e3:.1f} ms) | ≥ 5 |"
    )


if __name__ == "__main__":
    main()
