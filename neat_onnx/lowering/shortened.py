"""The short form of a network that was imported and not changed.

Its graph says all of it, and most of a small file are names, marks of layers and metadata. So the
nodes are joined, tensors have names of a letter or two, nodes none, constants are packed, and of
the metadata there is only as much as the genome needs. A form holds if import makes the very
network of it again.

Chains of layers keep their names, which NeatapticTS looks for.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neat_onnx.errors import NeatOnnxError, NeatOnnxWarning
from neat_onnx.genome import GENOME, SharedNeuronsError, import_network
from neat_onnx.lowering.context import LoweringContext
from neat_onnx.model import Graph, Model, Tensor, load_model
from neat_onnx.model.wiring import subgraphs
from neat_onnx.network.network import Network
from neat_onnx.network.structure import IMPORTED
from neat_onnx.options import ExportOptions
from neat_onnx.passes.short_form.larger_operators import with_larger_operators
from neat_onnx.passes.short_form.output_order import in_order_of_outputs
from neat_onnx.passes.short_form.packed import packed
from neat_onnx.passes.short_form.short_names import short_names
from neat_onnx.passes.short_form.straight import straight
from neat_onnx.passes.written_attributes import without_defaults

_AXES_OF_MATRIX = 2
Finish = Callable[[Model, Mapping[str, str] | None], Model]
"""Adds the metadata of a form whose tensors have these new names; None for the usual form."""

_MOST_GENES = 65_536  # beyond, names and marks are a small part of the file
_FREE = {  # options that leave the form open
    "opset",
    "dtype",
    "fold",
    "batch_dimension",
    "encoding",
    "producer_name",
    "producer_version",
    "doc_string",
    "allow_partial_connectivity",
    "allow_mixed_activations",
    "allow_recurrent",
    "recurrent_single_step",
    "fused_recurrent",
}


def shortest(ctx: LoweringContext, plain: Model, finish: Finish) -> Model:
    """The finished model in the shortest form that import makes the same network of.

    Args:
        ctx: the export.
        plain: the model as it was lowered, without metadata.
        finish: adds the metadata.

    Raises:
        SharedNeuronsError: as for the usual form.
    """
    if not _may_be_short(ctx, plain):
        return finish(plain, None)
    search, tried = _Search(ctx, plain, finish), plain
    for largest in (False, True):
        model = with_larger_operators(plain, largest=largest)
        found = None if model == tried else search.without_genome(model)
        if found is not None:
            return found
        tried = model
    if ctx.layered and _is_chain(plain.graph):
        return search.usual
    forms = []
    for marked in (False, True):
        found = search.holding(plain, marked=marked)
        if found is not None and GENOME not in found.metadata:
            return found
        forms += [found] if found is not None else []
    return min([search.usual, *forms], key=lambda model: len(model.to_bytes()))


@dataclass
class _Search:
    """The forms of one export."""

    ctx: LoweringContext
    plain: Model
    finish: Finish

    @cached_property
    def usual(self) -> Model:
        """The form of all other networks."""
        return self.finish(self.plain, None)

    @cached_property
    def _rounded(self) -> Network:
        """The network that import makes of the usual form, with numbers as a file rounds them."""
        return import_network(load_model(self.usual.to_bytes()))

    def without_genome(self, model: Model) -> Model | None:
        """The short form of a model if it needs no genome, in one order of nodes or another."""
        orders = [model] if len(model.graph.outputs) == 1 else [model, in_order_of_outputs(model)]
        for each in orders:
            found = self.holding(each, marked=False)
            if found is not None and GENOME not in found.metadata:
                return found
        return None

    def holding(self, model: Model, *, marked: bool) -> Model | None:
        """The short form, with or without marks of layers, if import makes the network of it."""
        form, names = _form(model, marked=marked)
        with warnings.catch_warnings():
            warnings.simplefilter("error", NeatOnnxWarning)
            try:
                found = self.finish(form, names)
                again = import_network(load_model(found.to_bytes()))
                same = again == self.ctx.net or again == self._rounded  # noqa: PLR1714 (lazily)
                return found if same else None
            except (NeatOnnxError, NeatOnnxWarning, SharedNeuronsError):
                return None  # import reads this form in another way


def _form(plain: Model, *, marked: bool) -> tuple[Model, dict[str, str]]:
    """A short form, with or without the marks of layers, and the new names of its tensors."""
    joined, alias = straight(plain, copies=marked)
    form, names = short_names(packed(without_defaults(joined)))
    return form, names | {old: names.get(new, new) for old, new in alias.items()}


def _may_be_short(ctx: LoweringContext, plain: Model) -> bool:
    """Whether a network is one that was imported, and its form is nobody's business."""
    net = ctx.net
    usual = ExportOptions().model_dump(exclude=_FREE) == ctx.options.model_dump(exclude=_FREE)
    if not usual or net.library != IMPORTED or len(net) + len(net.connections) > _MOST_GENES:
        return False
    return not plain.functions and not any(subgraphs(node) for node in plain.graph.node)


def _is_chain(graph: Graph) -> bool:
    """Whether each node is a dense layer of the tensor before, or the activation of one."""
    constants, before, layers = graph.tensors, graph.inputs[0].name, 0
    for node in graph.node:
        if [name for name in node.input if name and name not in constants] != [before]:
            return False
        weights = [constants[name] for name in node.input if name in constants]
        if weights and not _is_dense(weights[0]):
            return False
        layers += bool(weights)
        before = node.output[0]
    return layers > 0


def _is_dense(weights: Tensor) -> bool:
    """Whether these are the weights of a dense layer, not of neurons that read one input each."""
    if len(weights.dims) != _AXES_OF_MATRIX:
        return False
    return int(np.count_nonzero(weights.values)) * 2 > weights.size
