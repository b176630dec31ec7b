"""The neurons of materialized signals, against the plain definition, signal by signal."""

from types import SimpleNamespace

import numpy as np
import pytest

from neat_onnx.lifting.context import INPUT, MATERIALIZED, PRE_ACTIVATION, REGISTER
from neat_onnx.lifting.materialized import Materialized
from neat_onnx.network.genes import NONE

FORMULAS, VARIABLE = 3, 1


def signals(seed):
    """Signals of all kinds; the materialized ones are formulas of any signal before them."""
    rng = np.random.default_rng(seed)
    kind = np.append(
        INPUT, rng.choice([INPUT, PRE_ACTIVATION, REGISTER, MATERIALIZED, MATERIALIZED], 39)
    )
    origin = np.array([NONE, *(int(rng.integers(0, at)) for at in range(1, 40))])
    several = rng.permutation(np.flatnonzero(kind == PRE_ACTIVATION))[:3]
    ctx = SimpleNamespace(kind=kind, origin=origin, formula_of=rng.integers(0, FORMULAS, 40))
    for state in np.setdiff1d(np.flatnonzero(kind == PRE_ACTIVATION), several):  # has one formula
        ctx.formula_of[(kind == MATERIALIZED) & (origin == state)] = state % FORMULAS
    is_neuron = np.isin(kind, (INPUT, PRE_ACTIVATION))
    return ctx, np.where(is_neuron, np.cumsum(is_neuron) - 1, NONE), several


def plainly(ctx, neuron_of, several):
    """The activations, the reading neurons, and the neuron of each pair."""
    activation, read, known = [VARIABLE] * (max(neuron_of) + 1), [], {}
    for signal in np.flatnonzero(ctx.kind == MATERIALIZED).tolist():
        origin, formula = pair = int(ctx.origin[signal]), int(ctx.formula_of[signal])
        if pair in known:
            pass
        elif formula == VARIABLE and ctx.kind[origin] != REGISTER:
            known[pair] = neuron_of[origin]
        elif ctx.kind[origin] == PRE_ACTIVATION and origin not in several:
            known[pair] = neuron_of[origin]
            activation[neuron_of[origin]] = formula
        else:
            known[pair] = len(activation)
            read.append([origin, len(activation)])
            activation.append(formula)
        neuron_of[signal] = known[pair]
    return activation, read, known


@pytest.mark.parametrize("seed", range(20))
def test_signals_of_one_formula_have_one_neuron(seed):
    ctx, neuron_of, several = signals(seed)
    wanted_of = neuron_of.copy()
    activation, read, known = plainly(ctx, wanted_of, several.tolist())
    found = Materialized(ctx, FORMULAS, VARIABLE, neuron_of, several)
    assert neuron_of.tolist() == wanted_of.tolist()
    assert found.activation.tolist() == activation
    assert found.read.tolist() == read
    for origin in range(40):
        for formula in range(FORMULAS):
            unread = ctx.kind[origin] == PRE_ACTIVATION and origin not in {
                each for each, _ in known
            }
            wanted = wanted_of[origin] if unread else known.get((origin, formula), NONE)
            assert found.neurons_of(np.array([origin]), formula, neuron_of).tolist() == [wanted]


def test_numbers_of_neurons_change_everywhere():
    ctx, neuron_of, several = signals(0)
    found = Materialized(ctx, FORMULAS, VARIABLE, neuron_of, several)
    activation, read = found.activation.copy(), found.read.copy()
    order = np.random.default_rng(1).permutation(len(activation))
    rank = np.append(np.argsort(order), NONE)
    found.reorder(order, rank)
    assert found.activation.tolist() == activation[order].tolist()
    assert found.read[:, 0].tolist() == read[:, 0].tolist()
    assert order[found.read[:, 1]].tolist() == read[:, 1].tolist()
    made = np.flatnonzero(ctx.kind == MATERIALIZED)
    for origin, formula, neuron in zip(
        ctx.origin[made], ctx.formula_of[made], neuron_of[made], strict=True
    ):
        assert found.neurons_of(np.array([origin]), formula, rank[neuron_of]) == rank[neuron]
