"""The neurons of materialized signals, each of which is a formula of another signal."""

import numpy as np

from neat_onnx.lifting.context import MATERIALIZED, PRE_ACTIVATION, REGISTER, LiftingContext
from neat_onnx.network.genes import NONE, Bools, Ints


class Materialized:
    """The neurons of materialized signals, one for each formula of each signal.

    A pre-activation has the first formula itself, where nothing else is made of it. A formula of
    anything else is a neuron that reads it.

    Attributes:
        activation: by neuron, the number of the formula that it is, (neurons,).
        read: a signal, and the neuron of a formula of it that reads it, in the order in which
            they were made, (k, 2).
    """

    def __init__(
        self, ctx: LiftingContext, formulas: int, variable: int, neuron_of: Ints, several: Ints
    ) -> None:
        """Number the neurons; the new ones follow the others.

        Args:
            ctx: the import.
            formulas: how many there are.
            variable: the number of the one that is the signal itself.
            neuron_of: for each signal its neuron, or NONE; materialized signals get theirs here.
            several: pre-activations of which each formula is a neuron of its own.
        """
        kind, count, self._formulas = ctx.kind, int(neuron_of.max(initial=NONE)) + 1, formulas
        made = np.flatnonzero(kind == MATERIALIZED)
        pairs = ctx.origin[made] * formulas + ctx.formula_of[made]
        self._pairs, first, pair_of = np.unique(pairs, return_index=True, return_inverse=True)
        origin, formula = np.divmod(self._pairs, formulas)
        itself = (formula == variable) & (kind[origin] != REGISTER)
        own = (kind[origin] == PRE_ACTIVATION) & ~np.isin(origin, several) & ~itself
        fresh = np.flatnonzero(~itself & ~own)
        fresh = fresh[np.argsort(first[fresh])]
        self._at = np.where(own | itself, neuron_of[origin], NONE)
        self._at[fresh] = count + np.arange(len(fresh))
        pair = np.full(len(kind), NONE)
        pair[made] = pair_of
        handed_on = np.flatnonzero(itself & (kind[origin] == MATERIALIZED))
        for each in handed_on[np.argsort(first[handed_on])].tolist():
            self._at[each] = self._at[pair[origin[each]]]
        neuron_of[made] = self._at[pair_of]
        self.activation = np.append(np.full(count, variable), formula[fresh])
        self.activation[self._at[own]] = formula[own]
        self.read = np.stack([origin[fresh], self._at[fresh]], axis=1)
        self._has_formula = np.zeros(len(kind), np.bool_)
        self._has_formula[origin] = True
        self._is_pre_activation = kind == PRE_ACTIVATION

    def reorder(self, order: Ints, rank: Ints) -> None:
        """Number the neurons anew.

        Args:
            order: the neurons, by their new numbers.
            rank: the new number of each; the last place is that of NONE.
        """
        self.activation, self._at = self.activation[order], rank[self._at]
        self.read[:, 1] = rank[self.read[:, 1]]

    def neurons_of(self, origins: Ints, formula: int, neuron_of: Ints) -> Ints:
        """The neurons that give a formula of signals, NONE where there is none; a pre-activation's
        own if nothing is made of it.
        """
        pairs = origins * self._formulas + formula
        places = np.searchsorted(self._pairs, pairs)
        known = np.append(self._pairs, NONE)[places] == pairs
        found = np.where(known, np.append(self._at, NONE)[places], NONE)
        unread: Bools = self._is_pre_activation[origins] & ~self._has_formula[origins]
        return np.where(unread, neuron_of[origins], found)
