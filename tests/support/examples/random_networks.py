"""Random networks for hypothesis: irregular ones, layered ones, and ones that overflow."""

from typing import Any

from hypothesis import strategies as st
from support.examples.made import layered
from support.examples.networks import BUILTIN_ACTIVATIONS, BUILTIN_AGGREGATIONS

from neat_onnx.network.network import Network

GROWING = ("square", "cube", "neat_exp", "neat_inv", "bent_identity", "relu")

# none so small that float32 has no room for products of some of them
WEIGHTS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5]), st.floats(0.01, 2.0), st.floats(-2.0, -0.01)
)


@st.composite
def dags(
    draw: st.DrawFn,
    activations: tuple[str, ...] = BUILTIN_ACTIVATIONS,
    aggregations: tuple[str, ...] = ("sum", "sum", "sum", *BUILTIN_AGGREGATIONS),
    weights: st.SearchStrategy[float] = WEIGHTS,
) -> Network:
    """Irregular networks with whatever genes and ports there may be."""
    inputs = draw(st.integers(1, 4))
    count = inputs + draw(st.integers(1, 9))
    ids = draw(st.permutations(range(-3, count - 3))) if draw(st.booleans()) else range(count)
    some = activations if draw(st.booleans()) else (draw(st.sampled_from(activations)),)
    genes = [{"id": j} for j in ids[:inputs]] + [
        {
            "id": j,
            "activation": draw(st.sampled_from(some)),
            "aggregation": draw(st.sampled_from(aggregations)),
            "bias": draw(weights),
            "response": draw(st.one_of(st.just(1.0), weights)),
            "initial": draw(st.sampled_from([0.0, 0.5])),
            "name": draw(st.sampled_from(["", "", "x", "W0"])),
        }
        for j in ids[inputs:]
    ]
    edges = []
    for _ in range(draw(st.integers(0, 20))):
        target = draw(st.integers(inputs, count - 1))
        source = draw(st.integers(0, target - 1))
        enabled = draw(st.sampled_from([True] * 5 + [False]))
        if not enabled:  # it may be a loop, or have a delay
            source = draw(st.integers(0, count - 1))
        gene = {"source": ids[source], "target": ids[target], "weight": draw(weights)}
        edges.append(gene if enabled else gene | {"enabled": False, "delay": 1})
    outputs = [ids[j] for j in draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=5))]
    document = {
        "inputs": _split(draw, "in", list(ids[:inputs])),
        "outputs": _split(draw, "out", outputs),
        "neurons": draw(st.permutations(genes)) if draw(st.booleans()) else genes,
        "connections": edges,
    }
    return Network.from_document(document)


def _split(draw: st.DrawFn, name: str, ids: list[int]) -> list[dict[str, Any]]:
    """Ports over these neurons: one, or several of various shapes."""
    if draw(st.booleans()):
        return [{"name": f"{name}put", "shape": [len(ids)], "neurons": ids}]
    cut = draw(st.integers(0, len(ids)))
    parts = [part for part in (ids[:cut], ids[cut:]) if part]
    shapes = [draw(st.sampled_from([[len(p)], [1, len(p)], [len(p), 1]])) for p in parts]
    return [
        {"name": f"{name}_{k}", "shape": shape, "neurons": part}
        for k, (part, shape) in enumerate(zip(parts, shapes, strict=True))
    ]


@st.composite
def mlps(draw: st.DrawFn) -> Network:
    """Fully connected layers, each with one activation or a mixture."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=2, max_size=4))
    names = st.sampled_from(("tanh", "sigmoid", "relu", "identity", "neat_tanh", "gelu"))
    activations: list[list[str] | str] = [
        draw(st.one_of(names, st.lists(names, min_size=size, max_size=size))) for size in sizes[1:]
    ]
    return layered(sizes, activations, draw(st.integers(0, 1000)))


def towers() -> st.SearchStrategy[Network]:
    """Networks whose values overflow soon."""
    return dags(
        activations=GROWING,
        aggregations=("sum", "sum", "product", "mean", "max"),
        weights=st.sampled_from([0.0, 1.0, -3.0, 40.0, 1e6]),
    )
