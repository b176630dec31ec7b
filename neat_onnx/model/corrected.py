"""Operators that onnx's reference evaluator computes otherwise than ONNX says, put right.

They are of onnx 1.23, and stand in for its own where a model has one of them. Each is a function,
because classes of the evaluator are imported with the first model that needs one.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from neat_onnx.model import Model
from neat_onnx.model.wiring import nodes_within

_NEWEST = 1000  # more than any version of ONNX's operators
_INFERENCE = 14  # the first version whose BatchNormalization says whether it is in training
_DEQUANTIZED = 19  # the first version of DequantizeLinear that the evaluator has


def corrected(model: Model) -> list[Any]:
    """The classes of a model's operators that the evaluator lacks, or computes otherwise."""
    nodes = list(nodes_within(model.graph))
    operators = {node.op_type for node in nodes}
    found = [
        make()
        for name, (before, make) in _CORRECTED.items()
        if name in operators and model.opset < before
    ]
    if any(node.domain == _ML for node in nodes):
        from neat_onnx.model.corrected_ml import CORRECTED_ML  # noqa: PLC0415

        found += [make() for name, make in CORRECTED_ML.items() if name in operators]
    return found


def _evaluated(module: str) -> Any:
    return import_module(f"onnx.reference.ops.{module}")


def _batch_normalization() -> Any:
    """BatchNormalization by the mean and the variance that it is given.

    The evaluator takes old ones that state a momentum, as PyTorch writes them, to be in training,
    and has no numbers for each element, as `spatial=0` does.
    """
    evaluated: Any = _evaluated("op_batch_normalization")

    class BatchNormalization(evaluated.BatchNormalization_14):  # type: ignore[misc]
        def _run(
            self, x: Any, *given: Any, epsilon: float = 1e-5, spatial: int = 1, **_: Any
        ) -> tuple[Any, ...]:
            if spatial == 0:
                scale, bias, mean, variance = given
                result = scale * (x - mean) / np.sqrt(variance + epsilon) + bias
                return (result.astype(x.dtype),)
            return (evaluated._batchnorm_test_mode(x, *given, epsilon=epsilon),)

    return BatchNormalization


def _conv_transpose() -> Any:
    """ConvTranspose of several groups, each of any number of channels, and of a given size."""
    evaluated: Any = _evaluated("op_conv_transpose")

    class ConvTranspose(evaluated.ConvTranspose):  # type: ignore[misc]
        def _run(
            self, x: Any, w: Any, b: Any = None, group: int | None = None, **given: Any
        ) -> tuple[Any, ...]:
            count = group or 1
            if given.get("output_shape"):
                given |= {"pads": _pads(x.shape[2:], w.shape[2:], given), "auto_pad": "NOTSET"}
            pairs = zip(np.split(x, count, axis=1), np.split(w, count), strict=True)
            parts = [super(ConvTranspose, self)._run(*each, group=1, **given)[0] for each in pairs]
            whole = np.concatenate(parts, axis=1)
            return (whole if b is None else whole + b.reshape(-1, *[1] * (x.ndim - 2)),)

    return ConvTranspose


def _pads(image: Any, kernel: Any, given: dict[str, Any]) -> list[int]:
    """The pads of a ConvTranspose whose output has a given size, the odd one at the start, or at
    the end by SAME_UPPER.
    """
    upper, rank = given["auto_pad"] == "SAME_UPPER", len(image)
    steps, spread = given["strides"] or [1] * rank, given["dilations"] or [1] * rank
    added, wanted = given["output_padding"] or [0] * rank, given["output_shape"]
    whole = [
        max(0, steps[k] * (image[k] - 1) + added[k] + (kernel[k] - 1) * spread[k] + 1 - wanted[k])
        for k in range(rank)
    ]
    less, more = [each // 2 for each in whole], [each - each // 2 for each in whole]
    return less + more if upper else more + less


def _dequantize_linear() -> Any:
    """DequantizeLinear of any version: the evaluator has those from 19 on."""
    evaluated: Any = _evaluated("op_dequantize_linear")

    class DequantizeLinear(evaluated._CommonDequantizeLinear):  # type: ignore[misc]
        pass

    return DequantizeLinear


def _gather_elements() -> Any:
    """GatherElements of fewer indices than there are elements along any axis."""
    evaluated: Any = _evaluated("op_gather_elements")

    class GatherElements(evaluated.GatherElements):  # type: ignore[misc]
        def _run(self, data: Any, indices: Any, axis: int | None = None) -> tuple[Any, ...]:
            along = (axis or 0) % data.ndim
            read = tuple(
                slice(None) if place == along else slice(size)
                for place, size in enumerate(indices.shape)
            )
            return (np.take_along_axis(data[read], indices.astype(np.int64), along),)

    return GatherElements


def _global_max_pool() -> Any:
    """GlobalMaxPool over one axis or three; the evaluator's is over two."""
    evaluated: Any = _evaluated("op_global_max_pool")

    class GlobalMaxPool(evaluated.GlobalMaxPool):  # type: ignore[misc]
        def _run(self, x: Any) -> tuple[Any, ...]:
            return (x.max(axis=tuple(range(2, x.ndim)), keepdims=True),)

    return GlobalMaxPool


def _loop() -> Any:
    """Loop whose outputs of all steps have an axis for these, and which may have no condition.

    The evaluator puts the steps one after the other along the first axis that each of them has.
    """
    evaluated: Any = _evaluated("op_loop")

    class Loop(evaluated.Loop):  # type: ignore[misc]
        def _run(
            self, most: Any, cond: Any, *args: Any, context: Any = None, **given: Any
        ) -> tuple[Any, ...]:
            step_name, cond_name, *names = self.body.input_names
            inputs, states = dict(context or {}), list(args)
            rows: list[Any] = []
            attributes = {"attributes": given.get("attributes"), "bindings": given.get("bindings")}
            while (cond is None or np.all(cond)) and (most is None or len(rows) < np.max(most)):
                inputs |= {step_name: np.array(len(rows)), cond_name: np.array(True)}
                inputs |= dict(zip(names, states, strict=True))
                cond, *results = self._run_body(inputs, **attributes)
                states = results[: len(names)]
                rows.append(results[len(names) :])
            kinds = self.body.output_types[len(names) + 1 :]
            stacked = [*map(np.stack, zip(*rows, strict=True))] if rows else map(_none_of, kinds)
            return self._check_and_fix_outputs((*states, *stacked))  # type: ignore[no-any-return]

    return Loop


def _none_of(kind: Any) -> Any:
    """No tensors of a type, one after the other; of an axis that is open there are no elements."""
    from onnx import helper  # noqa: PLC0415 - slow to import

    tensor = kind.tensor_type
    sizes = [size.dim_value for size in tensor.shape.dim]
    return np.empty((0, *sizes), helper.tensor_dtype_to_np_dtype(tensor.elem_type))


def _lrn() -> Any:
    """LRN of every channel; the evaluator computes as many channels as there are samples."""
    evaluated: Any = _evaluated("op_lrn")

    class LRN(evaluated.LRN):  # type: ignore[misc]
        def _run(self, x: Any, size: int, alpha: float, beta: float, bias: float) -> tuple[Any]:
            before, squares = (size - 1) // 2, np.zeros_like(x)
            for at in range(x.shape[1]):
                read = x[:, max(0, at - before) : at - before + size]
                squares[:, at] = np.sum(read * read, axis=1)
            return ((x / (bias + alpha / size * squares) ** beta).astype(x.dtype),)

    return LRN


def _scan() -> Any:
    """Scan along any axes, and backward; the evaluator's is along the first ones, forward."""
    evaluated: Any = _evaluated("op_scan")

    class Scan(evaluated.Scan):  # type: ignore[misc]
        def __init__(self, node: Any, run_params: Any) -> None:
            plain, self.turns = type(node)(), {}
            plain.CopyFrom(node)
            del plain.attribute[:]
            for each in node.attribute:
                if each.name.startswith("scan_"):
                    self.turns[each.name] = [*each.ints]
                else:
                    plain.attribute.append(each)
            super().__init__(plain, run_params)

        def _run(self, *args: Any, **given: Any) -> tuple[Any, ...]:
            states = len(args) - self.num_scan_inputs
            reads = self._turned(args[states:], "input")
            found = super()._run(*args[:states], *reads, **given)
            return (*found[:states], *self._turned(found[states:], "output"))

        def _turned(self, tensors: Any, side: str) -> list[Any]:
            axes, backward = (
                self.turns.get(f"scan_{side}_{what}", [0] * len(tensors))
                for what in ("axes", "directions")
            )
            ends = [(axis, 0) if side == "input" else (0, axis) for axis in axes]
            moved = [np.moveaxis(each, *pair) for each, pair in zip(tensors, ends, strict=True)]
            first = axes if side == "output" else [0] * len(axes)
            each = zip(moved, first, backward, strict=True)
            return [np.flip(tensor, axis) if turn else tensor for tensor, axis, turn in each]

    return Scan


_ML = "ai.onnx.ml"  # few models have operators of it
_CORRECTED: dict[str, tuple[int, Callable[[], Any]]] = {
    "BatchNormalization": (_INFERENCE, _batch_normalization),
    "ConvTranspose": (_NEWEST, _conv_transpose),
    "DequantizeLinear": (_DEQUANTIZED, _dequantize_linear),
    "GatherElements": (_NEWEST, _gather_elements),
    "GlobalMaxPool": (_NEWEST, _global_max_pool),
    "LRN": (_NEWEST, _lrn),
    "Loop": (_NEWEST, _loop),
    "Scan": (_NEWEST, _scan),
}
"""By operator, the version of ONNX's operators from which on the evaluator's is right."""
