"""LSTM: C = f ⊙ C₋₁ + i ⊙ c and H = o ⊙ h(C), with gates i, o, f and a candidate c.

i, f = f(W·X + R·H₋₁ + P ⊙ C₋₁ + b), o the same of C; with input_forget f = 1 − i
c = g(W·X + R·H₋₁ + b)
"""

from dataclasses import replace
from functools import partial

from neat_onnx.lifting.context import LiftingContext, lifts
from neat_onnx.network.genes import Ints
from neat_onnx.operators.rnn.curves import COMPLEMENT, Curve
from neat_onnx.operators.rnn.nodes import LSTM
from neat_onnx.operators.rnn.step import Part, Step, each, full
from neat_onnx.operators.rnn.walk import Kind, lift_recurrence

_INPUT, _OUTPUT, _FORGET, _CANDIDATE = range(4)


def _cell(step: Step, x: Ints, states: list[Ints | None], *, coupled: bool) -> list[Ints]:
    h, c = states
    f, g, final = step.curves

    def gate(name: str, k: int, curve: Curve, *more: Part) -> Ints:
        parts = full(x, step.w[k]), full(h, step.r[k]), *more
        return step.layer(name, *parts, bias=step.wb[k] + step.rb[k], curve=curve)

    entry = gate("entry", _INPUT, f, each(c, step.peephole[_INPUT]))
    if coupled:
        forget = step.layer("forget", each(entry), curve=COMPLEMENT)
    else:
        forget = gate("forget", _FORGET, f, each(c, step.peephole[_FORGET]))
    candidate = gate("candidate", _CANDIDATE, g)
    memory = step.layer("memory", each(candidate, gate=entry), each(c, gate=forget))
    out = gate("out", _OUTPUT, f, each(memory, step.peephole[_OUTPUT]))
    shown = step.layer(
        "shown", each(memory), curve=replace(final, clip=None)
    )  # clip is for the gates
    return [step.sums(each(shown, gate=out)), memory]


@lifts(LSTM)
def lift_lstm(ctx: LiftingContext, node: LSTM) -> None:
    cell = partial(_cell, coupled=node.attributes.input_forget == 1)
    kind = Kind(gates=4, functions=("Sigmoid", "Tanh", "Tanh"), states=2, cell=cell)
    lift_recurrence(ctx, node, kind)
