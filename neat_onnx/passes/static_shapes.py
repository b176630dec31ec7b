"""Everything that follows from shapes: sizes that are known, the branch of an If, a Loop's rounds.

The nodes are taken in their order, each with all that is known from the ones before it: a chain of
nodes that each need the one before is simple after one pass. A node that computes known sizes, or
reads constants alone, becomes an initializer; an If of a known condition, or a Loop of a known
number of iterations, the nodes inside of it; a Reshape to one size that is no number takes that
from the elements there are (-1).
"""

from neat_onnx.model import Model, Node, Tensor, ValueInfo
from neat_onnx.model.budget import Budget
from neat_onnx.model.inference import TensorFacts, inferred_facts, is_known, symbols
from neat_onnx.model.value import Extent
from neat_onnx.model.wiring import reads
from neat_onnx.passes.constants import constant_tensor
from neat_onnx.passes.control_flow import branch_taken, iterations
from neat_onnx.model.draft import MODERN, Draft, copied, with_inputs
from neat_onnx.passes.fold_constants import computed, may_fold
from neat_onnx.passes.followed_sizes import (
    MAX_AXES,
    Sizes,
    computed_sizes,
    is_source,
    sizes_of,
)

_UNFOLDS = {"If": branch_taken, "Loop": iterations}


def static_shapes(model: Model, budget: Budget | None = None) -> Model:
    """The model with initializers for known sizes, Reshapes to them, and known branches and loops.

    Raises:
        ModelError: there would be too many nodes.
    """
    if not any(is_source(node) or node.op_type in _UNFOLDS for node in model.graph.node):
        return model
    return _Walk(model, budget or Budget()).model()


class _Walk:
    """The nodes in their order, and all that is known of the tensors before each.

    Attributes:
        draft: has the nodes that stay.
        followed: the tensors of sizes.
        refined: tensors of which more may be known here than the draft infers: of new nodes,
            of nodes that read new initializers, or others of these.
        facts: the types and shapes of these, as far as they were asked for.
        makers: by the name of such a tensor, the position in the draft of its node.
    """

    def __init__(self, model: Model, budget: Budget) -> None:
        self.draft = Draft(model)
        self.budget = budget
        self.followed: dict[str, Sizes] = {}
        self.refined: set[str] = set()
        self.facts: dict[str, TensorFacts] = {}
        self.makers: dict[str, int] = {}
        self.symbols = symbols(model)
        self.wanted = {entry.name for entry in model.graph.outputs}
        self.constant = set(self.draft.tensors) - {entry.name for entry in model.graph.inputs}

    def model(self) -> Model:
        """The model after all of its nodes; itself where nothing changes."""
        whole = self.draft.model
        pending = [(node, False) for node in reversed(whole.graph.node)]
        while pending:
            node, is_new = pending.pop()
            inside = self._unfolded(node)
            if inside is not None:
                pending += [(each, True) for each in reversed(inside)]
                continue
            is_new = is_new or not self.refined.isdisjoint(reads(node))
            tensors = self._constants(node, is_new=is_new)
            if tensors is None:
                self._keep(node, is_new=is_new)
            for tensor in tensors or ():
                self.draft.tensors[tensor.name] = tensor
                self.constant.add(tensor.name)
                self.refined.add(tensor.name)
                self.facts[tensor.name] = TensorFacts(tensor.data_type, tensor.dims)
        return whole if self.draft.nodes == whole.graph.node else self.draft.finished()

    def _unfolded(self, node: Node) -> list[Node] | None:
        """The nodes in place of an If or a Loop that are known to run."""
        unfold = _UNFOLDS.get(node.op_type)
        if unfold is None or self.draft.model.opset < MODERN:
            return None
        return unfold(node, self.draft, self.budget)

    def _constants(self, node: Node, *, is_new: bool) -> list[Tensor] | None:
        """The initializers in place of a node; None where it stays. Its sizes are followed."""
        sizes = self._sizes(node)
        if sizes is not None:
            self.followed[node.output[0]] = sizes
        if not self.wanted.isdisjoint(node.output):
            return None
        if sizes is not None and sizes.known:
            tensor = sizes.tensor(node.output[0])
            return None if tensor is None else [tensor]
        if not is_new:
            return None
        if node.op_type == "Constant" and not node.domain:
            return [constant_tensor(node)]
        folds = may_fold(node, self.constant, self.wanted)
        return computed(node, self.draft, self.budget) if folds else None

    def _sizes(self, node: Node) -> Sizes | None:
        if is_source(node):
            shape = self._shape(node.input[0])
            return None if shape is None else sizes_of(node, shape)
        return computed_sizes(node, self.followed, self.draft.tensors)

    def _keep(self, node: Node, *, is_new: bool) -> None:
        """Leave a node in the graph, and note whether more is known of its results now."""
        if node.op_type == "Reshape" and not node.domain:
            sizes = self.followed.get("".join(node.input[1:2]))
            node = node if sizes is None else self._reshape(node, sizes)
            is_new = is_new or sizes is not None
        if is_new:
            self.refined.update(node.output)
            self.makers.update(dict.fromkeys(node.output, len(self.draft.nodes)))
        self.draft.nodes.append(node)

    def _reshape(self, node: Node, sizes: Sizes) -> Node:
        """A Reshape to sizes that are followed, whose result has them for its shape."""
        fixed = [size for size in sizes.elements if isinstance(size, int)]
        if min(fixed, default=1) < 1:
            return node
        kind = self._known(node.input[0]).elem_type
        self.facts[node.output[0]] = TensorFacts(kind, sizes.elements)
        if len(fixed) != len(sizes.elements) - 1:
            return node
        shape = [size if isinstance(size, int) else -1 for size in sizes.elements]
        name = self.draft.constant(f"{node.output[0]}_shape", shape)
        return with_inputs(node, [node.input[0], name])

    def _shape(self, name: str) -> tuple[Extent, ...] | None:
        """The shape of a tensor, as far as it can be known."""
        self._infer(name)
        return self._known(name).shape

    def _known(self, name: str) -> TensorFacts:
        """The type and shape of a tensor, without the names that onnx makes up for sizes."""
        found = self.facts.get(name) or self.draft.facts(name)
        sizes = (
            size if isinstance(size, int) or size in self.symbols else None
            for size in found.shape or ()
        )
        return TensorFacts(found.elem_type, None if found.shape is None else tuple(sizes))

    def _infer(self, name: str) -> None:
        """Infer the shapes of the nodes that a tensor depends on, of each once."""
        found: set[int] = set()
        pending = [name]
        while pending:
            at = self.makers.get(pending.pop())
            if at is None or at in found:
                continue
            node = self.draft.nodes[at]
            for each in node.output:
                self.makers.pop(each, None)
            if not all(is_known(self._known(each)) for each in node.output if each):
                found.add(at)
                pending += reads(node)
        if not found:
            return
        inferred = self._inferred([self.draft.nodes[at] for at in sorted(found)])
        for each, facts in inferred.items():
            known = self.facts.get(each, facts)
            shape = facts.shape if known.shape is None else known.shape
            self.facts[each] = TensorFacts(facts.elem_type or known.elem_type, shape)

    def _inferred(self, nodes: list[Node]) -> dict[str, TensorFacts]:
        """The types and shapes of nodes' results, and of their inputs, as onnx infers them."""
        made = {name for node in nodes for name in node.output}
        names = sorted({name for node in nodes for name in reads(node) if name} - made)
        tensors = [self.draft.tensors[name] for name in names if name in self.draft.tensors]
        short = [tensor for tensor in tensors if tensor.size <= MAX_AXES]
        given = [(name, self._known(name)) for name in names]
        entries = [
            ValueInfo.of(name, facts.elem_type, facts.shape)
            for name, facts in given
            if facts.elem_type is not None
        ]
        whole = self.draft.model
        graph = copied(whole.graph, inputs=entries, outputs=[], initializer=short, node=nodes)
        return inferred_facts(copied(whole, graph=graph, metadata_props=[]))
