"""Writing a population as one ONNX model.

Inside the graph members are the last axis, [N, columns, P]: a product of every member's values with
its own weights is then one elementwise Mul, summed over columns. For a sample or a few of each
member that is several times faster than a batched MatMul of P small matrices.
"""

from dataclasses import replace
from typing import Literal

import numpy as np

import neat_onnx.operators.export  # noqa: F401 (fills the registry)
from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.lowering.builder import GraphBuilder
from neat_onnx.model import DataType, Graph, Model, OperatorSet, ValueInfo
from neat_onnx.model.graph import IR_OF_OPSET, ir_version
from neat_onnx.model.wiring import drop_dead
from neat_onnx.network.expression import scalar_slope
from neat_onnx.network.genes import Floats
from neat_onnx.operators.export.formula import FormulaEmitter, emit_formula
from neat_onnx.population.layout import Gains, Reduction, Stage
from neat_onnx.population.population import Population
from neat_onnx.version import __version__

_Shape = list[int | str | None]
_MEMBERS_LAST, _MEMBERS_FIRST = (1, 2, 0), (2, 0, 1)
_INPUT, _OUTPUT, _PREVIOUS, _NEXT = "input", "output", "hidden_prev", "hidden_next"


def lower_population(
    population: Population, dtype: Literal["float32", "float64"], opset: int, shared_input: bool
) -> Model:
    """Write a population as a model. See `neat_onnx.export_population`."""
    if opset not in IR_OF_OPSET:
        known = f"{min(IR_OF_OPSET)} to {max(IR_OF_OPSET)}"
        raise OptionError(f"no opset {opset}", where="opset", hint=f"Known: {known}")
    if not population.layout.inputs:
        raise NetworkError("a population without inputs has no ONNX form", where="inputs")
    graph = _Lowering(population, dtype, opset, shared_input).graph()
    return Model(
        ir_version=ir_version(opset),
        opset_import=[OperatorSet(version=opset)],
        producer_name="neat_onnx",
        producer_version=__version__,
        graph=drop_dead(graph),
    )


class _Lowering(GraphBuilder):
    """The graph of a population under construction; its current values are [N, columns, P]."""

    def __init__(self, population: Population, dtype: str, opset: int, shared_input: bool) -> None:
        data_type = DataType.FLOAT if dtype == "float32" else DataType.DOUBLE
        super().__init__(data_type, opset, (_INPUT, _OUTPUT, _PREVIOUS, _NEXT))
        self._layout = population.layout
        self._shared = shared_input
        self._columns = self._layout.inputs + self._layout.registers

    def graph(self) -> Graph:
        layout = self._layout
        members, outputs = layout.members, layout.outputs.shape[2]
        samples: _Shape = ["N", layout.inputs]
        inputs: list[tuple[str, _Shape]] = [
            (_INPUT, samples if self._shared else [members, *samples])
        ]
        results: list[tuple[str, _Shape]] = [(_OUTPUT, [members, "N", outputs])]
        values = self._opened()
        for number, stage in enumerate(layout.stages, 1):
            values = self._stage(number, stage, values)
        self._close(values, layout.outputs, _OUTPUT)
        if layout.registers:
            self._close(values, layout.following, _NEXT)
            inputs.append((_PREVIOUS, [members, "N", layout.registers]))
            results.append((_NEXT, [members, "N", layout.registers]))
        return Graph(
            name="population",
            inputs=[ValueInfo.of(name, self.data_type, shape) for name, shape in inputs],
            outputs=[ValueInfo.of(name, self.data_type, shape) for name, shape in results],
            initializer=list(self.initializers.values()),
            node=self.nodes,
        )

    def _opened(self) -> str:
        """Return the columns of inputs and registers."""
        layout = self._layout
        if self._shared:
            shape = self.integers("input_shape", [-1, layout.inputs, 1])
            column = self.emit("Reshape", [_INPUT, shape], "Column", "input_columns")
            zeros = self.initializer("Members", np.zeros((1, 1, layout.members)))
            values = self.emit("Add", [column, zeros], "Shared", "share_input")
        else:
            values = self.emit("Transpose", [_INPUT], "Inputs", "members_last", perm=_MEMBERS_LAST)
        if not layout.registers:
            return values
        held = self.emit("Transpose", [_PREVIOUS], "Held", "state_last", perm=_MEMBERS_LAST)
        return self.emit("Concat", [values, held], "Values_0", "values_l0", axis=1)

    def _close(self, values: str, picking: Floats, name: str) -> None:
        """Produce an output [P, N, width] of picked columns."""
        picked = self._product(name, picking, values)
        self.produce("Transpose", [picked], name, f"members_first_{name}", perm=_MEMBERS_FIRST)

    def _product(self, stem: str, weight: Floats, values: str) -> str:
        """Multiply values [N, columns, P] with weights (P, columns, width): [N, width, P]."""
        members, columns, _ = weight.shape
        columns = min(columns, self._columns)
        table = self.initializer(f"W_{stem}", weight[:, :columns].transpose(2, 1, 0))
        shape = self.shared_integers("rows", [-1, 1, columns, members])
        rows = self.once(
            f"rows of {values}",
            lambda: self.emit("Reshape", [values, shape], f"{values}_rows", f"rows_{values}"),
        )
        scaled = self.emit("Mul", [rows, table], f"Products_{stem}", f"mul_{stem}")
        axes = self.shared_integers("axes", [2])
        return self.emit("ReduceSum", [scaled, axes], f"Sums_{stem}", f"sum_{stem}", keepdims=0)

    def _stage(self, number: int, stage: Stage, values: str) -> str:
        """Add the nodes of a stage; return all columns up to it."""
        stage = _folded(stage)
        z = self._aggregated(number, stage, values)
        if (stage.scale != 1.0).any():
            scale = self.initializer(f"S{number}", stage.scale.transpose(1, 2, 0))
            z = self.emit("Mul", [z, scale], f"Scaled_{number}", f"scale_l{number}")
        bias = self.initializer(f"B{number}", stage.bias.transpose(1, 2, 0))
        z = self.emit("Add", [z, bias], f"Sum_{number}", f"bias_l{number}")
        widths = [width for _, width in stage.activations]
        parts = [z]
        if len(widths) > 1:
            sizes = self.integers(f"split_{number}", widths)
            wished = [f"Part_{number}_{k}" for k in range(len(widths))]
            parts = self.emit_all("Split", [z, sizes], wished, f"split_l{number}", axis=1)
        layers = [
            emit_formula(self, activation.expression, part, f"Layer_{number}_{k}", f"act_l{number}")
            for k, ((activation, _), part) in enumerate(zip(stage.activations, parts, strict=True))
        ]
        columns = [values, *layers, *([z] if stage.keeps_pre_activation else [])]
        self._columns += stage.width * (2 if stage.keeps_pre_activation else 1)
        return self.emit("Concat", columns, f"Values_{number}", f"values_l{number}", axis=1)

    def _aggregated(self, number: int, stage: Stage, values: str) -> str:
        parts = []
        if stage.weight is not None:
            parts.append(self._product(f"{number}", stage.weight, values))
        parts += [
            self._reduced(f"{number}_{k}", reduction, values)
            for k, reduction in enumerate(stage.reductions)
        ]
        if len(parts) == 1:
            return parts[0]
        return self.emit("Concat", parts, f"Aggregates_{number}", f"join_l{number}", axis=1)

    def _gated(self, stem: str, gains: Gains, values: str) -> str:
        """Return the weighted inputs [N, edges, P], multiplied by their gains."""
        weighted = self._product(f"v{stem}", gains.values, values)
        if not gains.gains.any():
            return weighted
        gain = self._product(f"g{stem}", gains.gains, values)
        plain = self.initializer(
            f"U{stem}", (1.0 - gains.gains.sum(1, keepdims=True)).transpose(1, 2, 0)
        )
        gain = self.emit("Add", [gain, plain], f"Gains_{stem}", f"gains_l{stem}")
        return self.emit("Mul", [weighted, gain], f"Gated_{stem}", f"gate_l{stem}")

    def _reduced(self, stem: str, reduction: Reduction, values: str) -> str:
        """Reduce the weighted inputs as [N, width, k, P]; return [N, width, P]."""
        inputs = self._gated(stem, reduction.inputs, values)
        sizes = [-1, reduction.width, reduction.k, self._layout.members]
        shape = self.integers(f"shape_{stem}", sizes)
        rows = self.emit("Reshape", [inputs, shape], f"Inputs_{stem}", f"inputs_l{stem}")
        formula = reduction.aggregation.expression(reduction.k)
        emitter = FormulaEmitter(self, rows, f"Reduced_{stem}", f"reduce_l{stem}")
        reduced = emitter.emit(formula)
        back = self.shared_integers("back", [-1, reduction.width, self._layout.members])
        return self.emit("Reshape", [reduced, back], f"Members_{stem}", f"members_l{stem}")


@np.errstate(all="ignore")
def _folded(stage: Stage) -> Stage:
    """Return a stage with responses and slopes in its weights, if all its neurons sum.

    The weights of a population are padded already and bring no genome back, so nothing is lost.
    """
    if stage.weight is None or stage.reductions or stage.keeps_pre_activation:
        return stage
    cores = [scalar_slope(activation.expression) for activation, _ in stage.activations]
    widths = [width for _, width in stage.activations]
    slope = np.repeat([slope for slope, _ in cores], widths)
    factor = stage.scale * slope
    activations = tuple(
        (replace(activation, expression=core), width)
        for (activation, width), (_, core) in zip(stage.activations, cores, strict=True)
    )
    return replace(
        stage,
        weight=stage.weight * factor,
        scale=np.ones_like(stage.scale),
        bias=stage.bias * slope,
        activations=activations,
    )
