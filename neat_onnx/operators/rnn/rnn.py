"""RNN: H = f(W·X + R·H₋₁ + b)."""

from neat_onnx.lifting.context import LiftingContext, lifts
from neat_onnx.network.genes import Ints
from neat_onnx.operators.rnn.nodes import RNN
from neat_onnx.operators.rnn.step import Step, full
from neat_onnx.operators.rnn.walk import Kind, lift_recurrence


def _cell(step: Step, x: Ints, states: list[Ints | None]) -> list[Ints]:
    (h,) = states
    parts = full(x, step.w[0]), full(h, step.r[0])
    return [step.sums(*parts, bias=step.wb[0] + step.rb[0], curve=step.curves[0])]


@lifts(RNN)
def lift_rnn(ctx: LiftingContext, node: RNN) -> None:
    lift_recurrence(ctx, node, Kind(gates=1, functions=("Tanh",), states=1, cell=_cell))
