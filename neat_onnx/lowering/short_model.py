"""Models in short names, and the networks that import makes of their graphs."""

import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from neat_onnx.errors import NeatOnnxError, NeatOnnxWarning
from neat_onnx.genome import genome_of_graph
from neat_onnx.lifting.core import BatchAxis, Lifted, lift
from neat_onnx.model import Model
from neat_onnx.network.network import Network
from neat_onnx.passes.draft import is_one_of, with_graph
from neat_onnx.passes.splice import renamed_twice
from neat_onnx.passes.written_attributes import without_defaults
from neat_onnx.short_form.constants_once import constants_once
from neat_onnx.short_form.in_axes import SHAPES
from neat_onnx.short_form.packed import packed
from neat_onnx.short_form.short_names import short_names
from neat_onnx.short_form.single_sums import single_sums
from neat_onnx.short_form.straight import Form, Names
from neat_onnx.short_form.without_batch import without_batch

_NUMBERS = {
    "neurons": ("bias", "response", "initial"),
    "connections": ("weight", "initial_gain"),
}  # genes that a file may round


def is_rounded(found: Network, exact: Network, rounded: Network) -> bool:
    """Whether a network is another one, each number as it is or as a file rounds it.

    Args:
        found: the network.
        exact, rounded: the other one, with all numbers as they are, and all rounded. An operator
            may have factors of a number, and none of them is rounded.
    """
    if found == rounded:
        return True
    sizes = {(len(each), len(each.connections)) for each in (found, exact, rounded)}
    if len(sizes) > 1:
        return False
    parts = {}
    for part, names in _NUMBERS.items():
        its, as_is, other = (getattr(each, part) for each in (found, exact, rounded))
        for name in names:
            values = getattr(its, name)
            either = (values == getattr(as_is, name)) | (values == getattr(other, name))
            if not np.all(either):
                return False
        parts[part] = replace(its, **{name: getattr(as_is, name) for name in names})
    return replace(found, **parts) == exact


@dataclass(frozen=True)
class BareModel:
    """A model without metadata.

    Attributes:
        model: the model.
        batch_axis: as for `lift`.
    """

    model: Model
    batch_axis: BatchAxis = "auto"

    @cached_property
    def size(self) -> int:
        """The bytes of its file."""
        return len(self.content)

    @cached_property
    def content(self) -> bytes:
        """Its file."""
        return self.model.to_bytes()

    def is_longer(self, most: float) -> bool:
        """Whether it takes more bytes, whatever the axes that its nodes compute in.

        It hardly takes fewer than without nodes that give tensors other axes, and without their
        constants.
        """
        if self.size <= most:
            return False
        graph = self.model.graph
        nodes = [node for node in graph.node if not is_one_of(node, *SHAPES)]
        read = {name for node in nodes for name in node.input}
        tensors = [each for each in graph.initializer if each.name in read]
        return len(with_graph(self.model, node=nodes, initializer=tensors).to_bytes()) > most

    @cached_property
    def lifted(self) -> Lifted | None:
        """The graph as import reads it; None if it is no network, or import warns."""
        with warnings.catch_warnings():
            warnings.simplefilter("error", NeatOnnxWarning)
            try:
                return lift(self.model, self.batch_axis)
            except (NeatOnnxError, NeatOnnxWarning):
                return None

    @cached_property
    def network(self) -> Network | None:
        """The network of the graph, if it is one."""
        return None if self.lifted is None else genome_of_graph(self.lifted.network)


class Candidate(NamedTuple):
    """A form in short names, with its constants packed, each once.

    Attributes:
        bare: the model, without metadata.
        names: the names there of tensors that had others.
    """

    bare: BareModel
    names: Names


@dataclass(frozen=True)
class CandidateMaker:
    """The forms of one export in short names.

    Attributes:
        remembers: forms that are the same are lifted once.
    """

    remembers: bool
    _known: dict[bytes, BareModel] = field(default_factory=dict)

    def of(self, form: Form, *, layers: bool = False) -> Candidate:
        """A form in short names.

        Args:
            form: the model without detours.
            layers: it is a chain of layers, which has the names that NeatapticTS looks for.
        """
        bare = form.model if layers else single_sums(constants_once(form.model))
        bare = without_defaults(bare)
        model, names = short_names(bare if layers else packed(bare), layers=layers)
        return Candidate(self._bare(model), renamed_twice(form.names, names))

    def without_batch(self, candidate: Candidate) -> Candidate | None:
        """The form without the axis of a batch of one; None if an operator needs it."""
        model = without_batch(candidate.bare.model)
        return None if model is None else candidate._replace(bare=self._bare(model))

    def _bare(self, model: Model) -> BareModel:
        found = BareModel(model)
        if not self.remembers:
            return found
        known = self._known.setdefault(found.content, found)
        return known if known.model == model else found  # the file may round other numbers to these
