"""Random networks for hypothesis: with memory, irregular, layered, and ones that overflow."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from support.examples.made import layered
from support.examples.networks import BUILTIN_ACTIVATIONS, BUILTIN_AGGREGATIONS

from neat_onnx.network.network import Network

BOUNDED = ["tanh", "sigmoid", "neat_sin", "neat_gauss", "softsign", "hard_tanh"]
GROWING = ["identity", "relu", "abs", "square", "cube", "neat_exp", "neat_inv", "softplus"]
FORMULAS = [
    "formula: pow(abs(z) + 0.1, 1.3) + erf(z) - mod(z, 0.7)",
    "formula: round(2 * z) + floor(z) * ceil(z) - sign(z)",
    "formula: where(both(greater(z, 0), less(z, 1)), cos(z), minimum(maximum(z, -2), atan(z)))",
    "formula: number(either(is_nan(z), negated(less_or_equal(z, 0.5))))",
    "formula: reciprocal(softplus(z) * softplus(z) + number(one_of(is_infinite(z), equal(z, 0))))",
]
AGGREGATIONS = ["sum", "sum", "sum", *BUILTIN_AGGREGATIONS]
ANY = st.floats(-2, 2)
# none so small that float32 has no room for products of some of them
WEIGHTS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5]), st.floats(0.01, 2.0), st.floats(-2.0, -0.01)
)


@st.composite
def networks(
    draw: st.DrawFn,
    *,
    activations: Sequence[str] = BOUNDED,
    aggregations: Sequence[str] = AGGREGATIONS,
    weights: st.SearchStrategy[float] = ANY,
    memory: bool = True,
    anyhow: bool = False,
    ports: tuple[int, int] | None = None,
) -> Network:
    """A network of up to 9 neurons, with disabled genes.

    Args:
        memory: there are delays and gates.
        anyhow: ids, names, ports and the order of genes are any; else each is its position.
        ports: the numbers of inputs and outputs; any if None.
    """
    inputs, few, many = (draw(st.integers(1, 3)), 1, 4) if ports is None else (*ports, ports[1])
    count = inputs + draw(st.integers(1, 6))
    mixed = anyhow and draw(st.booleans())
    ids = draw(st.permutations(range(-3, count - 3))) if mixed else list(range(count))
    some = (draw(st.sampled_from(activations)),) if anyhow and draw(st.booleans()) else activations
    neurons = [{"id": j} for j in ids[:inputs]] + [
        {
            "id": j,
            "activation": draw(st.sampled_from(some)),
            "aggregation": draw(st.sampled_from(aggregations)),
            "bias": draw(weights),
            "response": draw(st.one_of(st.just(1.0), weights)),
            "initial": draw(weights) if memory else 0.0,
            "name": draw(st.sampled_from(["", "", "x", "W0"])) if anyhow else "",
        }
        for j in ids[inputs:]
    ]
    connections = [
        draw(_connection(ids, inputs, weights, memory)) for _ in range(draw(st.integers(0, 16)))
    ]
    outputs = draw(st.lists(st.sampled_from(ids), min_size=few, max_size=many))
    document = {
        "inputs": draw(_ports("in", list(ids[:inputs]), anyhow)),
        "outputs": draw(_ports("out", outputs, anyhow)),
        "neurons": draw(st.permutations(neurons)) if mixed else neurons,
        "connections": connections,
    }
    return Network.from_document(document)


@st.composite
def _connection(
    draw: st.DrawFn,
    ids: Sequence[int],
    inputs: int,
    weights: st.SearchStrategy[float],
    memory: bool,
) -> dict[str, Any]:
    """A gene; one that is disabled may be a loop, or have a delay, in networks without memory."""
    last = len(ids) - 1
    target, enabled = draw(st.integers(inputs, last)), draw(st.sampled_from([True] * 4 + [False]))
    late = memory or not enabled
    source = draw(st.integers(0, last if late else target - 1))
    gene = {
        "source": ids[source],
        "target": ids[target],
        "weight": draw(weights),
        "enabled": enabled,
        "delay": draw(st.integers(int(source >= target), 3)) if late else 0,
    }
    if memory:
        gene["reads_state"] = draw(st.booleans())
        if draw(st.booleans()):
            gater = draw(st.integers(0, last))
            gene["gater"] = ids[gater]
            gene["gate_delay"] = draw(st.integers(int(gater >= target), 2))
            gene["initial_gain"] = draw(weights)
    return gene


@st.composite
def _ports(draw: st.DrawFn, name: str, ids: list[int], anyhow: bool) -> list[dict[str, Any]]:
    """Ports over these neurons: one, or several of various shapes."""
    if not anyhow or draw(st.booleans()):
        return [{"name": f"{name}put", "shape": [len(ids)], "neurons": ids}]
    cut = draw(st.integers(0, len(ids)))
    parts = [part for part in (ids[:cut], ids[cut:]) if part]
    shapes = [draw(st.sampled_from([[len(p)], [1, len(p)], [len(p), 1]])) for p in parts]
    return [
        {"name": f"{name}_{k}", "shape": shape, "neurons": part}
        for k, (part, shape) in enumerate(zip(parts, shapes, strict=True))
    ]


def dags() -> st.SearchStrategy[Network]:
    """Irregular networks with whatever genes and ports there may be."""
    return networks(activations=BUILTIN_ACTIVATIONS, weights=WEIGHTS, memory=False, anyhow=True)


def towers() -> st.SearchStrategy[Network]:
    """Networks whose values overflow soon."""
    return networks(
        activations=("square", "cube", "neat_exp", "neat_inv", "bent_identity", "relu"),
        aggregations=("sum", "sum", "product", "mean", "max"),
        weights=st.sampled_from([0.0, 1.0, -3.0, 40.0, 1e6]),
        memory=False,
        anyhow=True,
    )


@st.composite
def mlps(draw: st.DrawFn) -> Network:
    """Fully connected layers, each with one activation or a mixture."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=2, max_size=4))
    names = st.sampled_from(("tanh", "sigmoid", "relu", "identity", "neat_tanh", "gelu"))
    activations: list[list[str] | str] = [
        draw(st.one_of(names, st.lists(names, min_size=size, max_size=size))) for size in sizes[1:]
    ]
    return layered(sizes, activations, draw(st.integers(0, 1000)))
