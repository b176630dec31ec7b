"""The short form of a network that was imported and not changed.

Its graph says all of it, and most of a small file are names, marks of layers and metadata. So the
nodes are joined, tensors have names of a letter or two, nodes none, constants are packed, and of
the metadata there is only as much as the genome needs. A form holds if import makes the very
network of it again.

Chains of layers keep the names that NeatapticTS looks for: of weights, of biases, and of the nodes
of activations.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from neat_onnx.errors import NeatOnnxError, NeatOnnxWarning
from neat_onnx.genome import GENOME, SharedNeuronsError, import_network
from neat_onnx.genome.of_graph import genome_of_graph
from neat_onnx.lifting.core import lift
from neat_onnx.lowering.context import LoweringContext
from neat_onnx.model import Graph, Model, Tensor, load_model
from neat_onnx.model.wiring import subgraphs
from neat_onnx.network.cells import part_at
from neat_onnx.network.network import Network
from neat_onnx.network.structure import IMPORTED
from neat_onnx.options import ExportOptions
from neat_onnx.passes.short_form.in_axes import in_axes
from neat_onnx.passes.short_form.larger_operators import with_larger_operators
from neat_onnx.passes.short_form.order import in_order_of
from neat_onnx.passes.short_form.packed import packed
from neat_onnx.passes.short_form.short_names import short_names
from neat_onnx.passes.short_form.single_sums import single_sums
from neat_onnx.passes.short_form.straight import Names, lone_sums, straight
from neat_onnx.passes.written_attributes import without_defaults

_AXES_OF_MATRIX = 2
Finish = Callable[[Model, Mapping[str, str] | None], Model]
"""Adds the metadata of a form whose tensors have these new names; None for the usual form."""

_MOST_GENES = 1_048_576  # beyond, a form takes long to check
_MOST_NAMED = 262_144  # beyond, names and marks are a small part of the file
_MOST_IN_LAYERS = 65_536  # likewise, of layers that read the one before
_MUCH_SHORTER = 2  # times, of a form that optimizers make another network of
_MOST_SUMS, _MOST_TRIED = 8, 16_384  # sums of one tensor, and genes, where each is tried
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
    search = _Search(ctx, plain, finish)
    models = [with_larger_operators(plain, largest=largest) for largest in (False, True)]
    larger = [model for k, model in enumerate(models) if model not in (plain, *models[:k])]
    for model in larger:
        found = search.without_genome(model)
        if found is not None:
            return found
    most = _MOST_IN_LAYERS if ctx.layered else _MOST_NAMED
    if _genes(ctx.net) > most:
        return search.usual
    if ctx.layered and _is_chain(plain.graph):
        return search.chain()
    found = search.without_genome(plain)
    if found is not None:
        return found
    best = min([search.usual, *search.with_genome()], key=_length)
    for model in larger:
        found = search.without_genome(model, marked=True)
        if found is not None and _MUCH_SHORTER * _length(found) < _length(best):
            return found
    return best


def _length(model: Model) -> int:
    return len(model.to_bytes())


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

    @cached_property
    def _tensors(self) -> list[str]:
        """The tensors of neurons, by the first of them in the genome."""
        columns = [each for each in self.ctx.places.columns if each.signals.size]
        in_order = sorted(columns, key=lambda each: each.signals.min())
        return [part_at(each.tensor)[0] for each in in_order]  # of a part, that of its node

    def without_genome(self, model: Model, *, marked: bool = False) -> Model | None:
        """The short form of a model if it needs no genome.

        Nodes stand in one order or another, and sums of one tensor, which tell a neuron from
        another, are there or not.

        Args:
            model: as it was lowered, or with larger operators.
            marked: Identities stay, which tell neurons apart as well. Optimizers take them away,
                so a form with a genome is better unless it is much longer.
        """
        orders = [model, in_order_of(model, ()), in_order_of(model, self._tensors)]
        known = set()
        for sums in (False, True):
            for each in orders:
                joined, alias = straight(each, copies=marked, sums=sums)
                form = tuple(name for node in joined.graph.node for name in node.output)
                if form in known:
                    continue  # there are no such marks, or it is in this order
                known.add(form)
                lifted = self._lifted(joined)
                if lifted is None or len(lifted) != len(self.ctx.net):
                    break  # no order changes that
                if lifted != self.ctx.net:
                    continue
                if sums:
                    joined, alias = self._with_few_sums(each, copies=marked)
                for turned in _in_axes(joined, alias):
                    found = self.holding(*turned)
                    if found is not None and GENOME not in found.metadata:
                        return found
        return None

    def _with_few_sums(self, model: Model, *, copies: bool) -> tuple[Model, Names]:
        """The model without detours, nor sums of one tensor that its network does not need."""
        best = straight(model, copies=copies)
        names = lone_sums(best[0])
        if not 1 < len(names) <= _MOST_SUMS or _genes(self.ctx.net) > _MOST_TRIED:
            return best
        needed = set(names)
        for name in names:
            trial = straight(model, copies=copies, sums=needed - {name})
            if self._lifted(trial[0]) == self.ctx.net:
                best, needed = trial, needed - {name}
        return best

    def with_genome(self) -> Iterator[Model]:
        """Yield the short forms of the model as it was lowered, whether or not they need a genome.

        Optimizers leave sums of one tensor and take Identities away, so the forms with these come
        last.
        """
        known = set()
        for copies, sums in product((False, True), repeat=2):
            joined, alias = straight(self.plain, copies=copies, sums=sums)
            form = tuple(name for node in joined.graph.node for name in node.output)
            if form not in known and (found := self.holding(joined, alias)) is not None:
                yield self._with_fewer_sums(found, copies=copies) if sums else found
            known.add(form)

    def _with_fewer_sums(self, found: Model, *, copies: bool) -> Model:
        """The form without those sums of one tensor that make the file no shorter."""
        names = lone_sums(straight(self.plain, copies=copies)[0])
        if not 1 < len(names) <= _MOST_SUMS or _genes(self.ctx.net) > _MOST_TRIED:
            return found
        needed = set(names)
        for name in names:
            trial = self.holding(*straight(self.plain, copies=copies, sums=needed - {name}))
            if trial is not None and _length(trial) <= _length(found):
                found, needed = trial, needed - {name}
        return found

    def _lifted(self, model: Model) -> Network | None:
        """The network that import makes of the graph alone; None if it takes it for none."""
        with warnings.catch_warnings():
            warnings.simplefilter("error", NeatOnnxWarning)
            try:
                return genome_of_graph(lift(model).network)
            except (NeatOnnxError, NeatOnnxWarning):
                return None

    def chain(self) -> Model:
        """A chain of layers, as NeatapticTS reads it: in its short form if that needs no genome."""
        joined, alias = straight(self.plain, zeros=True)
        found = self._named(*short_names(without_defaults(joined), layers=True), alias)
        return self.usual if found is None or GENOME in found.metadata else found

    def holding(self, joined: Model, alias: Names) -> Model | None:
        """The short form of a model without detours, if import makes the network of it.

        Args:
            joined: the model.
            alias: its names of tensors that had others.
        """
        return self._named(*short_names(packed(without_defaults(single_sums(joined)))), alias)

    def _named(self, form: Model, names: dict[str, str], alias: Names) -> Model | None:
        names |= {old: names.get(new, new) for old, new in alias.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("error", NeatOnnxWarning)
            try:
                found = self.finish(form, names)
                again = import_network(load_model(found.to_bytes()))
                same = again == self.ctx.net or again == self._rounded  # noqa: PLR1714 (lazily)
                return found if same else None
            except (NeatOnnxError, NeatOnnxWarning, SharedNeuronsError):
                return None  # import reads this form in another way


def _may_be_short(ctx: LoweringContext, plain: Model) -> bool:
    """Whether a network is one that was imported, and its form is nobody's business."""
    net = ctx.net
    usual = ExportOptions().model_dump(exclude=_FREE) == ctx.options.model_dump(exclude=_FREE)
    if not usual or net.library != IMPORTED or _genes(net) > _MOST_GENES:
        return False
    return not plain.functions and not any(subgraphs(node) for node in plain.graph.node)


def _in_axes(joined: Model, alias: Names) -> Iterator[tuple[Model, Names]]:
    """Yield a model without detours, and first that whose elementwise nodes compute in axes."""
    turned = in_axes(joined)
    if turned is not joined:
        model, names = straight(turned)
        yield model, {old: names.get(new, new) for old, new in alias.items()} | names
    yield joined, alias


def _genes(net: Network) -> int:
    return len(net) + len(net.connections)


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
