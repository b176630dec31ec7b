"""The short form of a network that was imported and not changed.

Its graph says all of it, and most of a small file are names, marks of layers and metadata. So the
nodes are joined, tensors have names of a letter or two, nodes none, constants are packed, and of
the metadata there is only as much as the genome needs. A form holds if import makes the very
network of it again.

Chains of layers keep the names that NeatapticTS looks for: of weights, of biases, and of the nodes
of activations.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from math import inf

from neat_onnx.errors import NeatOnnxError, NeatOnnxWarning
from neat_onnx.genome import LongGenomeError, SharedNeuronsError, import_network
from neat_onnx.lowering.around_operators import Export
from neat_onnx.lowering.chains import is_chain
from neat_onnx.lowering.context import LoweringContext
from neat_onnx.lowering.hinted_operators import whole_graphs
from neat_onnx.lowering.open_options import leaves_form_open
from neat_onnx.lowering.registry import Frame
from neat_onnx.lowering.short_graphs import (
    MAX_GENES_TRIED,
    forms_of,
    genes_of,
    in_either_axes,
    models_in_axes,
    with_few_sums,
)
from neat_onnx.lowering.short_model import Candidate, CandidateMaker, is_rounded
from neat_onnx.lowering.short_operators import with_proposed_operators
from neat_onnx.model import Model, load_model
from neat_onnx.model.single_sample import KEYS_OF_PORTS
from neat_onnx.model.wiring import subgraphs
from neat_onnx.network.cells import part_at
from neat_onnx.network.network import Network
from neat_onnx.network.structure import IMPORTED
from neat_onnx.short_form.larger_operators import with_larger_operators
from neat_onnx.short_form.straight import Form, straight
from neat_onnx.short_form.without_gathers import without_gathers

Finish = Callable[[Model, Candidate | None, float], Model]
"""Adds the metadata of a model: this short form, or the usual one, with so many bytes of genome."""

_MAX_GENES = 1_048_576  # beyond, a form takes long to check
_MAX_GENES_OF_OPERATORS = 4_194_304  # likewise, of one that is mostly a few operators
_MAX_NAMED_GENES = 65_536  # beyond, names and marks are a small part of the file
_MUCH_SHORTER = 2  # times, of a form that optimizers make another network of
_TIMES_NODES, _MORE_NODES = 4, 8  # of a form beside a whole graph


def shortest(
    ctx: LoweringContext, plain: Model, finish: Finish, export: Export, frame: Frame
) -> Model:
    """The finished model in the shortest form that import makes the same network of.

    A network with hints at operators has a form with them as well.

    Args:
        ctx: the export.
        plain: the model as it was lowered, without metadata.
        finish: adds the metadata.
        export: makes the model of another network, without metadata.
        frame: the frame of the export.

    Raises:
        SharedNeuronsError: as for the usual form.
    """
    if not _may_be_short(ctx, plain):
        return finish(plain, None, inf)
    single_sample = ctx.options.batch_dimension is None
    files = _Files(ctx.net, plain, finish, _tensors_of_neurons(ctx), single_sample)
    whole = None if ctx.layered and is_chain(plain.graph) else files.of_whole_graph(frame)
    if whole is not None:
        return _or_shorter(ctx, plain, files, whole)
    proposed, hinted = with_proposed_operators(ctx.net, plain, export)
    found = files.with_operators(proposed, frame) or _of_layers(ctx, plain, files)
    longest = _MUCH_SHORTER * _length(found)  # some forms are shorter with ports as they are stated
    return min([found, files.with_operators(hinted, frame, longest) or found], key=_length)


def _or_shorter(ctx: LoweringContext, plain: Model, files: "_Files", whole: Model) -> Model:
    """The file of a graph that came back whole, or one of layers that is no longer.

    Forms of many more nodes are no shorter.
    """
    many = _TIMES_NODES * len(whole.graph.node) + _MORE_NODES
    if len(plain.graph.node) > many or genes_of(ctx.net) > MAX_GENES_TRIED:
        return whole
    apart = without_gathers(plain)
    turned = [] if apart is plain else models_in_axes(apart)
    forms = (with_larger_operators(plain), [plain], *turned)
    found = (files.without_genome(models, most=_length(whole)) for models in forms)
    return min([*filter(None, found), whole], key=_length)


def _of_layers(ctx: LoweringContext, plain: Model, files: "_Files") -> Model:
    """The file in the shortest form without operators that are proposed.

    A form that needs no genome is the best there is. Of others, Identities tell neurons apart where
    sums do not; but optimizers take them away, so a form with a genome is better unless it is
    much longer.
    """
    genes = genes_of(ctx.net)
    if genes > _MAX_GENES:
        return files.usual
    larger = with_larger_operators(plain)
    if genes > _MAX_NAMED_GENES:
        return files.without_genome(larger) or files.much_shorter([*larger, plain])
    if ctx.layered and is_chain(plain.graph):
        layers = files.candidates.of(straight(plain, zeros=True), layers=True)
        written = files.without_genome(larger) or files.written(layers, without_genome=True)
        return written or files.usual
    few = genes <= MAX_GENES_TRIED
    apart = without_gathers(plain) if few else plain
    turned = [] if apart is plain else models_in_axes(apart)
    tries = [larger, [plain], *turned] if few else [[*larger, plain]]
    if short := [*filter(None, map(files.without_genome, tries))]:
        return min(short, key=_length)
    named = chain.from_iterable(map(files.of, [plain] if apart is plain else [plain, apart]))
    best = min([files.usual, *named], key=_length)
    much_shorter = (_length(best) - 1) // _MUCH_SHORTER
    marked = [*larger, *chain.from_iterable(turned)]
    return files.without_genome(marked, marked=True, most=much_shorter) or best


def _tensors_of_neurons(ctx: LoweringContext) -> list[str]:
    """The tensors of neurons, by the first of them in the genome."""
    columns = [each for each in ctx.places.columns if each.signals.size]
    in_order = sorted(columns, key=lambda each: each.signals.min())
    return [part_at(each.tensor)[0] for each in in_order]  # of a part, that of its node


def _length(model: Model) -> int:
    return len(model.to_bytes())


@dataclass
class _Files:
    """Finished models of one export, which import makes its network of.

    Attributes:
        net: the network.
        plain: the model as it was lowered.
        finish: adds the metadata.
        tensors: the tensors of neurons, by the first of them in the genome.
        single_sample: there is no batch, which a form may do without inside as well.
        least: the bytes of the smallest file so far that may need a genome.
    """

    net: Network
    plain: Model
    finish: Finish
    tensors: Sequence[str]
    single_sample: bool
    least: float = inf

    @cached_property
    def candidates(self) -> CandidateMaker:
        """The forms in short names; they are remembered where many are tried."""
        return CandidateMaker(remembers=genes_of(self.net) <= MAX_GENES_TRIED)

    @cached_property
    def usual(self) -> Model:
        """The form of all other networks."""
        return self.finish(self.plain, None, inf)

    @cached_property
    def _rounded(self) -> Network:
        """The network that import makes of the usual form, with numbers as a file rounds them."""
        read = load_model(self.usual.to_bytes())
        return self.net if read.graph == self.usual.graph else import_network(read)

    def without_genome(
        self, models: Iterable[Model], *, marked: bool = False, most: float = inf
    ) -> Model | None:
        """The file of the first of these models of which the graph alone is enough.

        Args:
            models: as lowered, or with larger operators.
            marked: Identities stay, which tell neurons apart.
            most: the bytes of the file.
        """
        for model in models:
            for form in forms_of(
                self.net, model, self.tensors, self.candidates, marked=marked, most=most
            ):
                if found := self.written(form, without_genome=True, most=most):
                    return found
        return None

    def with_operators(self, whole: Model | None, frame: Frame, most: float = inf) -> Model | None:
        """The file of a model with proposed operators, if its graph alone is enough; of a network
        of few genes the file without them, if that is smaller.

        Identities stay in it only where it is much shorter than the usual one.

        Args:
            whole: the model, if there is one.
            frame: the frame of the export.
            most: the bytes of the file.
        """
        if whole is None:
            return None
        whole = frame.in_stated_types(whole)
        forms, genes = [*with_larger_operators(whole), whole], genes_of(self.net)
        found = self.without_genome(forms, most=most)
        if found is None and genes <= _MAX_GENES:
            half = (_length(self.usual) - 1) // _MUCH_SHORTER
            found = self.without_genome(forms, marked=True, most=min(most, half))
        if found is None or genes > MAX_GENES_TRIED:
            return found
        plain = [*with_larger_operators(self.plain), self.plain]
        return self.without_genome(plain, most=_length(found) - 1) or found

    def of_whole_graph(self, frame: Frame) -> Model | None:
        """The file of the graph that a hint of the network is, if import makes the network of it.

        Args:
            frame: the frame of the export.
        """
        if not self.net.operators:
            return None
        stated, _ = frame.in_stated_ports(self.plain)
        forms = (straight(model, copies=copies) for model in whole_graphs(self.net, stated)
                 for copies in (False, True))  # fmt: skip
        found = (
            self._written(self.candidates.of(form), without_genome=True, most=inf) for form in forms
        )
        return next(filter(None, found), None)

    def much_shorter(self, models: Iterable[Model]) -> Model:
        """The file of the first of these models that is much shorter than the usual one, else that.

        Args:
            models: as lowered, or with larger operators.
        """
        for model in models:
            form = self.candidates.of(straight(model, copies=True))
            if found := self.written(form, most=_length(self.usual) // _MUCH_SHORTER):
                return found
        return self.usual

    def of(self, model: Model) -> Iterator[Model]:
        """Yield the files of a model's forms, whether or not they need a genome.

        Optimizers leave sums of one tensor and take Identities away, so the forms with these come
        last. Networks of many genes have the forms with such sums alone.
        """
        known, few = set(), genes_of(self.net) <= MAX_GENES_TRIED
        for copies, sums in product((False, True), (False, True) if few else (True,)):
            form = straight(model, copies=copies, sums=sums)
            if form.results not in known:
                forms = in_either_axes(form) if few else (form,)
                found = [*filter(None, map(self._smaller, forms))]
                yield from (self._with_fewer_sums(model, found, copies=copies) if sums else found)
            known.add(form.results)

    def _smaller(self, form: Form) -> Model | None:
        """The file of a form, unless it takes more bytes than another."""
        found = self.written(self.candidates.of(form), most=self.least)
        self.least = min(self.least, inf if found is None else _length(found))
        return found

    def _with_fewer_sums(self, model: Model, files: list[Model], *, copies: bool) -> list[Model]:
        """The files, and shorter ones without some sums of one tensor, if one is the smallest.

        Which sums are needed is the same whatever the axes that the nodes compute in.
        """
        if all(_length(each) > self.least for each in files):
            return files
        whole = straight(model, copies=copies)
        sizes = [inf if (found := self.written(self.candidates.of(whole))) is None else
                 _length(found)]  # fmt: skip

        def is_smaller(form: Form) -> bool:
            found = self.written(self.candidates.of(form), most=sizes[-1])
            sizes.extend(() if found is None else (_length(found),))
            return found is not None

        fewer = with_few_sums(self.net, model, is_smaller, copies=copies)
        if fewer.results == whole.results:
            return files
        return [*filter(None, map(self._smaller, in_either_axes(fewer))), *files]

    def written(
        self, candidate: Candidate, *, without_genome: bool = False, most: float = inf
    ) -> Model | None:
        """The file of a form, if import makes the network of it.

        Args:
            candidate: the form.
            without_genome: it is to need no genome.
            most: the bytes of the file.
        """
        single = self.candidates.without_batch(candidate) if self.single_sample else None
        found = single and self._written(single, without_genome=without_genome, most=most)
        return found or self._written(candidate, without_genome=without_genome, most=most)

    def _written(self, candidate: Candidate, *, without_genome: bool, most: float) -> Model | None:
        room = most - candidate.bare.size
        if room < 0:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("error", NeatOnnxWarning)
            try:
                found = self.finish(candidate.bare.model, candidate, 0 if without_genome else room)
                content = found.to_bytes()
                if len(content) > most:
                    return None
                again = self._imported(candidate, content)
                same = again == self.net or is_rounded(again, self.net, self._rounded)
                return found if same else None
            except (NeatOnnxError, NeatOnnxWarning, SharedNeuronsError, LongGenomeError):
                return None  # import reads this form in another way

    def _imported(self, candidate: Candidate, content: bytes) -> Network:
        """The network that import makes of the file of a form."""
        read, same = load_model(content), candidate.bare
        as_known = read.graph == same.model.graph and not {*KEYS_OF_PORTS} & read.metadata.keys()
        return import_network(read, lifted=same.lifted if as_known else None)


def _may_be_short(ctx: LoweringContext, plain: Model) -> bool:
    """Whether a network is one that was imported, and no option asks for a particular form."""
    if ctx.net.library != IMPORTED or not leaves_form_open(ctx.options):
        return False
    if genes_of(ctx.net) > _MAX_GENES_OF_OPERATORS:
        return False
    return not plain.functions and not any(subgraphs(node) for node in plain.graph.node)
