"""Random networks for hypothesis."""

from typing import Any

from hypothesis import strategies as st

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
AGGREGATIONS = ["sum", "sum", "sum", "mean", "product", "max", "min", "maxabs", "median"]


@st.composite
def networks(
    draw: Any,
    *,
    activations: list[str] | None = None,
    weights: st.SearchStrategy[float] | None = None,
    memory: bool = True,
    ports: tuple[int, int] | None = None,
) -> Network:
    """A network of up to 9 neurons, with disabled genes, and delays and gates if `memory`; of any
    numbers of inputs and outputs, or those of `ports`.
    """
    weights = st.floats(-2, 2) if weights is None else weights
    inputs, few, many = (draw(st.integers(1, 3)), 1, 4) if ports is None else (*ports, ports[1])
    count = inputs + draw(st.integers(1, 6))
    neurons = [
        {
            "id": j,
            "activation": draw(st.sampled_from(activations or BOUNDED)),
            "aggregation": draw(st.sampled_from(AGGREGATIONS)),
            "bias": draw(weights),
            "response": draw(weights),
            "initial": draw(weights) if memory else 0.0,
        }
        for j in range(inputs, count)
    ]
    connections = [
        draw(_connection(inputs, count, weights, memory)) for _ in range(draw(st.integers(0, 16)))
    ]
    outputs = draw(st.lists(st.integers(0, count - 1), min_size=few, max_size=many))
    return Network.build(inputs=inputs, outputs=outputs, neurons=neurons, connections=connections)


@st.composite
def _connection(
    draw: Any, inputs: int, count: int, weights: st.SearchStrategy[float], memory: bool
) -> dict[str, Any]:
    target = draw(st.integers(inputs, count - 1))
    source = draw(st.integers(0, count - 1 if memory else target - 1))
    gene = {
        "source": source,
        "target": target,
        "weight": draw(weights),
        "enabled": draw(st.sampled_from([True, True, True, False])),
    }
    if memory:
        gene["delay"] = draw(st.integers(int(source >= target), 3))
        gene["reads_state"] = draw(st.booleans())
        if draw(st.booleans()):
            gene["gater"] = gater = draw(st.integers(0, count - 1))
            gene["gate_delay"] = draw(st.integers(int(gater >= target), 2))
            gene["initial_gain"] = draw(weights)
    return gene
