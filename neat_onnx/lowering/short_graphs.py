"""Graphs without detours of which alone, without metadata, import makes a given network."""

from collections.abc import Callable, Iterator, Sequence
from math import inf

from neat_onnx.lowering.short_model import BareModel, Candidate, CandidateMaker
from neat_onnx.model import Model
from neat_onnx.network.network import Network
from neat_onnx.passes.splice import renamed_twice
from neat_onnx.short_form.common_axes import in_common_axes
from neat_onnx.short_form.in_axes import in_axes
from neat_onnx.short_form.larger_operators import with_larger_operators
from neat_onnx.short_form.order import in_order_of
from neat_onnx.short_form.straight import Form, identity_outputs, single_input_sums, straight

_MAX_SUMS = 8  # of one tensor, where each is tried
MAX_GENES_TRIED = 16_384
"""Genes of a network for which more forms are tried."""


def forms_of(
    net: Network,
    model: Model,
    tensors: Sequence[str],
    candidates: CandidateMaker,
    *,
    marked: bool = False,
    most: float = inf,
) -> Iterator[Candidate]:
    """Yield the forms of a model of which import makes the network, the shorter ones first.

    Nodes stand in one order or another, and sums of one tensor, which tell a neuron from
    another, are there or not.

    Args:
        net: the network.
        model: as it was lowered, or with larger operators.
        tensors: the tensors of neurons, by the first of them in the genome.
        candidates: makes the forms.
        marked: Identities stay, which tell neurons apart as well.
        most: the bytes of a form.
    """

    def makes_it(form: Form) -> bool:
        return BareModel(form.model).network == net

    orders = [model, in_order_of(model, ()), in_order_of(model, tensors)]
    known = set()
    for sums in (False, True):
        for each in orders:
            form = straight(each, copies=marked, sums=sums)
            if form.results in known:
                continue  # there are no such marks, or it is in this order
            known.add(form.results)
            candidate = candidates.of(form)
            if not sums and candidate.bare.is_longer(most):
                return  # marks make it longer
            found = candidate.bare.network
            if found is None or len(found) != len(net):
                break  # no order changes that
            if found == net:
                fewer = with_few_sums(net, each, makes_it, copies=marked) if sums else form
                ways = map(candidates.of, in_either_axes(fewer))
                yield from sorted(ways, key=lambda each: each.bare.size)


def genes_of(net: Network) -> int:
    """How many neurons and connections a network has."""
    return len(net) + len(net.connections)


def with_few_sums(
    net: Network, model: Model, holds: Callable[[Form], bool], *, copies: bool
) -> Form:
    """The model without detours, nor sums of one tensor that it does not need.

    Args:
        net: its network; of one with many genes all such sums stay.
        model: the model.
        holds: whether a form will do.
        copies: Identities stay.
    """
    best = straight(model, copies=copies)
    names = single_input_sums(best.model)
    if not 1 < len(names) <= _MAX_SUMS or genes_of(net) > MAX_GENES_TRIED:
        return best
    needed = set(names)
    for name in names:
        trial = straight(model, copies=copies, sums=needed - {name})
        if holds(trial):
            best, needed = trial, needed - {name}
    return best


def in_either_axes(form: Form) -> Iterator[Form]:
    """Yield a model without detours, and first those whose nodes compute in axes."""
    turned = in_axes_of_inputs(form)
    common = _without_detours(in_common_axes(turned.model), turned)
    yield from {id(each): each for each in (common, turned, form)}.values()


def in_axes_of_inputs(form: Form) -> Form:
    """The model whose elementwise nodes compute in axes, the form itself if it is that."""
    return _without_detours(in_axes(form.model), form)


def models_in_axes(model: Model) -> list[list[Model]]:
    """The model whose nodes compute in axes, elementwise ones and all that can; before each, those
    with larger operators.
    """
    turned = in_axes_of_inputs(Form(model, {})).model
    common = in_common_axes(turned)
    models = [turned] if common is turned else [turned, common]
    return [[*with_larger_operators(each), each] for each in models]


def _without_detours(model: Model, form: Form) -> Form:
    """A model that was made of a form, the form itself if it is that."""
    if model is form.model:
        return form
    model, names = straight(model, copies=identity_outputs(form.model))
    return Form(model, renamed_twice(form.names, names))
