"""MatMul by a constant matrix and Add of a constant row become one Gemm."""

from neat_onnx.model import Model, Node
from neat_onnx.model.draft import Draft, is_one_of


def matmul_add(model: Model) -> Model:
    """The model with a Gemm for MatMul [N, K] × [K, M] and the Add of [M] that alone reads it."""
    draft = Draft(model)
    changed: dict[int, Node | None] = {}
    for at, node in enumerate(model.graph.node):
        reader = draft.sole_reader(node.output[0]) if is_one_of(node, "MatMul") else None
        if reader is None or not is_dense(node, draft):
            continue
        add = model.graph.node[reader]
        bias = [name for name in add.input if name != node.output[0]]
        if is_one_of(add, "Add") and _is_floating(node, draft) and is_row(bias, node, draft):
            gemm = draft.node("Gemm", [*node.input, *bias], add.output, name=add.name)
            changed |= {at: None, reader: gemm}
    return draft.replaced(changed)


def is_dense(node: Node, draft: Draft) -> bool:
    """Whether a MatMul is [N, K] × [K, M] with a constant matrix."""
    matrix = draft.tensors.get(node.input[1])
    if matrix is None or len(matrix.dims) != 2:
        return False
    shape = draft.facts(node.input[0]).shape
    return shape is not None and len(shape) == 2


def _is_floating(node: Node, draft: Draft) -> bool:
    """Whether a MatMul's matrix has no integers, of which runtimes have no Gemm."""
    return draft.tensors[node.input[1]].data_type.dtype.kind == "f"


def is_row(names: list[str], node: Node, draft: Draft) -> bool:
    """Whether the one of these names is that of a constant row, an element for each column."""
    row = draft.tensors.get(names[0]) if len(names) == 1 else None
    columns = draft.tensors[node.input[1]].dims[1]
    return row is not None and row.dims in ((columns,), (1, columns))
