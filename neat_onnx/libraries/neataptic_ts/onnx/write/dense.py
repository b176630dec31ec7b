"""Dense layers: a Gemm and its activation, for the layer or for each neuron."""

from neat_onnx.libraries.neataptic_ts.onnx.write.draft import Draft
from neat_onnx.libraries.neataptic_ts.onnx.write.layers import Layer
from neat_onnx.libraries.neataptic_ts.onnx.write.plan import Form

GEMM = {"alpha": 1.0, "beta": 1.0, "transB": 1}


def write_dense(draft: Draft, form: Form) -> None:
    """One Gemm, one activation; in the legacy order the activation stands before it."""
    k = form.layer.index
    parameters = weights_of(draft, form.layer)
    reads, product, result = draft.tensor, f"Gemm_{k}", f"Layer_{k}"
    draft.node("Gemm", [reads, *parameters], product, f"gemm_l{k}", **GEMM)
    draft.tensor = draft.node(form.operators[0], [product], result, f"act_l{k}")
    if draft.options.legacy_node_ordering:
        draft.nodes[-2:] = reversed(draft.nodes[-2:])


def write_mixed(draft: Draft, form: Form) -> None:
    """A Gemm and an activation for each neuron, and a Concat of them."""
    layer, k, results = form.layer, form.layer.index, []
    for n, op_type in enumerate(form.operators):
        weights = draft.initializer(f"W{k - 1}_n{n}", layer.weights[n : n + 1])
        bias = draft.initializer(f"B{k - 1}_n{n}", layer.biases[n : n + 1])
        product, result = f"Gemm_{k}_n{n}", f"Layer_{k}_n{n}"
        draft.node("Gemm", [draft.tensor, weights, bias], product, f"gemm_l{k}_n{n}", **GEMM)
        results.append(draft.node(op_type, [product], result, f"act_l{k}_n{n}"))
    axis = 1 if draft.options.batch_dimension else 0
    draft.tensor = draft.node("Concat", results, f"Layer_{k}", f"concat_l{k}", axis=axis)


def weights_of(draft: Draft, layer: Layer) -> tuple[str, str]:
    """The layer's weights and biases, as initializers."""
    weights = draft.initializer(f"W{layer.index - 1}", layer.weights)
    return weights, draft.initializer(f"B{layer.index - 1}", layer.biases)
