"""GRU: H = (1 − z) ⊙ h + z ⊙ H₋₁, with an update gate z, a reset gate r and a candidate h.

z, r = f(W·X + R·H₋₁ + b)
h = g(W·X + R·(r ⊙ H₋₁) + b), or g(W·X + b + r ⊙ (R·H₋₁ + b')) with linear_before_reset
"""

from functools import partial

from neat_onnx.lifting.context import LiftingContext, lifts
from neat_onnx.network.genes import Ints
from neat_onnx.operators.rnn.curves import COMPLEMENT
from neat_onnx.operators.rnn.nodes import GRU
from neat_onnx.operators.rnn.step import Step, each, full
from neat_onnx.operators.rnn.walk import Kind, lift_recurrence

_UPDATE, _RESET, _CANDIDATE = range(3)


def _cell(step: Step, x: Ints, states: list[Ints | None], *, linear_first: bool) -> list[Ints]:
    (h,) = states
    f, g = step.curves
    bias = step.wb + step.rb
    update, reset = (
        step.layer(name, full(x, step.w[k]), full(h, step.r[k]), bias=bias[k], curve=f)
        for k, name in ((_UPDATE, "update"), (_RESET, "reset"))
    )
    k = _CANDIDATE
    if linear_first:
        linear = step.layer("linear", full(h, step.r[k]), bias=step.rb[k])
        parts, own = each(linear, gate=reset), step.wb[k]
    else:
        parts, own = full(h, step.r[k], reset), bias[k]
    candidate = step.layer("candidate", full(x, step.w[k]), parts, bias=own, curve=g)
    fresh = step.layer("fresh", each(update), curve=COMPLEMENT)
    return [step.sums(each(candidate, gate=fresh), each(h, gate=update))]


@lifts(GRU)
def lift_gru(ctx: LiftingContext, node: GRU) -> None:
    cell = partial(_cell, linear_first=node.attributes.linear_before_reset == 1)
    lift_recurrence(ctx, node, Kind(gates=3, functions=("Sigmoid", "Tanh"), states=1, cell=cell))
