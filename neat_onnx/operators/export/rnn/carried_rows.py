"""Memory ports of layers that are one node each: the rows that a node begins from and ends with.

A port [L, N, H], as PyTorch has it, holds a row of H units for each of L layers; one [N, H] holds
the only row.
"""

from collections.abc import Sequence

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.network.genes import Ints
from neat_onnx.network.port import MemoryPort
from neat_onnx.operators.export.layout.shaping import Concat, Slice, Squeeze, Unsqueeze
from neat_onnx.operators.export.rnn.recogniser import Layer

_CARRIED = ("hidden", "memory")
"""The parts of a layer that its node begins from and ends with, in the order of its inputs."""


class CarriedRows:
    """The rows of memory ports, by their neurons."""

    def __init__(self, ctx: LoweringContext, ports: Sequence[MemoryPort]) -> None:
        self._ctx, self._ports = ctx, ports
        self._place = {tuple(row): (port, k) for port in ports for k, row in enumerate(_rows(port))}

    def are_of(self, layers: Sequence[Layer]) -> bool:
        """Whether each row is a part of a layer, and each port has axes that rows have."""
        known = {
            tuple(layer.parts[name].tolist())
            for layer in layers
            for name in _CARRIED
            if name in layer.parts
        }
        shaped = all(
            len(port.shape) - 1 == port.batch_axis and port.batch_axis < 2 for port in self._ports
        )
        return shaped and known >= self._place.keys()

    def starts(self, layer: Layer) -> list[str]:
        """The tensors [1, N, H] that the node of a layer begins from; "" is zeros."""
        return [self._start(layer.parts.get(name)) for name in _CARRIED]

    def ends(self, layer: Layer) -> list[str]:
        """The names of the tensors [1, N, H] that it ends with; "" is one that nobody wants."""
        return [self._end(layer.parts.get(name)) for name in _CARRIED]

    def produce(self) -> None:
        """Join rows at the end of layers into the outputs of ports."""
        ctx = self._ctx
        for port in self._ports:
            rows = [self._name(port, k) for k in range(len(_rows(port)))]
            name = f"output_{port.output}"
            if not port.batch_axis:
                axes = ctx.shared_integers("axis", [0])
                ctx.produce(Squeeze, [*rows, axes], port.output, name)
            elif len(rows) > 1:
                ctx.produce(Concat, rows, port.output, name, axis=0)

    def _start(self, neurons: Ints | None) -> str:
        port, k = self._found(neurons)
        if port is None:
            return ""
        ctx, stem = self._ctx, f"{port.input}_row"
        axes = ctx.shared_integers("axis", [0])
        if not port.batch_axis:
            return ctx.emit(Unsqueeze, [port.input, axes], stem, stem)
        if len(_rows(port)) == 1:
            return port.input
        bounds = [ctx.shared_integers("bound", [at]) for at in (k, k + 1)]
        return ctx.emit(Slice, [port.input, *bounds, axes], stem, stem)

    def _end(self, neurons: Ints | None) -> str:
        port, k = self._found(neurons)
        return "" if port is None else self._name(port, k)

    def _found(self, neurons: Ints | None) -> tuple[MemoryPort | None, int]:
        key = () if neurons is None else tuple(neurons.tolist())
        return self._place.get(key, (None, 0))

    def _name(self, port: MemoryPort, k: int) -> str:
        """The name of a row at the end, which is the port's own where it is all of it."""
        if port.batch_axis and len(_rows(port)) == 1:
            return port.output
        ctx = self._ctx
        return ctx.once(f"row {k} of {port.output}", lambda: ctx.fresh(f"{port.output}_row"))


def _rows(port: MemoryPort) -> list[list[int]]:
    rows: list[list[int]] = port.neurons.reshape(-1, port.shape[-1]).tolist()
    return rows
