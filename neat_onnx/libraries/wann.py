"""Read matrices of WANN and prettyNEAT, the text that `exportNet` writes.

Row i, column j is the weight of the connection from node i to node j; the last column is the
activation of node i. Node 0 is 1, the inputs follow, then hidden nodes and outputs in an order in
which each reads those before it. How many of them are inputs and outputs the file does not say:
nodes that nothing enters are taken as inputs, nodes at the end that nothing leaves as outputs.
"""

import math

import numpy as np

from neat_onnx.errors import NetworkError, OptionError, warn
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.network.activations import FORMULA
from neat_onnx.network.genes import Connections, Floats, Neurons
from neat_onnx.network.network import Network

ACTIVATION_NAMES = {
    "1": "identity",
    "2": "step",
    "3": f"{FORMULA}sin({math.pi!r} * z)",
    "4": f"{FORMULA}exp(-(z * z) / 2.0)",
    "5": "tanh",
    "6": "sigmoid",
    "7": f"{FORMULA}-z",
    "8": "abs",
    "9": "relu",
    "10": f"{FORMULA}cos({math.pi!r} * z)",
    "11": "square",
}
"""The library takes the identity for any other number. Only prettyNEAT knows 11."""


def read(content: str, options: ReadOptions) -> Network:
    """Return the network that `act` evaluates, of as many inputs and outputs as the options say."""
    matrix = _matrix(content)
    weights, codes = np.nan_to_num(matrix[:, :-1], nan=0.0), matrix[:, -1]
    count = len(weights)
    first = _first_computing(weights, options.inputs)
    last = _first_output(weights, first, options.outputs)
    if None in (options.inputs, options.outputs):
        warn(
            f"read with {first - 1} inputs and {count - last} outputs, inferred from the matrix: "
            "say inputs=N and outputs=N (--inputs N --outputs N) if it is otherwise"
        )
    bias = np.where(np.arange(count) < first, 0.0, weights[0])
    source, target = np.nonzero(weights[1:])
    _refuse_backward(weights)
    names = ["identity"] * (first - 1) + [_activation(codes[j], j) for j in range(first, count)]
    neurons = Neurons.of(np.arange(1, count), names, bias=bias[1:])
    edges = Connections.of(source, target - 1, weights[source + 1, target])
    inputs, outputs = np.arange(first - 1), np.arange(last - 1, count - 1)
    return Network.of_genes(inputs, outputs, neurons, edges, "wann")


def _matrix(content: str) -> Floats:
    lines = [line for line in content.removeprefix("\ufeff").splitlines() if line.strip()]
    rows = []
    for number, line in enumerate(lines, 1):
        fields = line.split(",")
        if len(fields) != len(lines) + 1:
            raise NetworkError(
                f"{len(fields)} numbers in a matrix of {len(lines)} rows",
                where=f"line {number}",
                hint="Each row has a weight for every row, and an activation",
            )
        try:
            rows.append([float(text) for text in fields])
        except ValueError as error:
            raise NetworkError(f"not a number: {error}", where=f"line {number}") from error
    matrix = np.array(rows)
    if np.any(np.isinf(matrix)) or np.any(np.isnan(matrix[:, -1])):
        row = int(np.argmax(np.any(np.isinf(matrix), axis=1) | np.isnan(matrix[:, -1])))
        raise NetworkError("a number is not finite", where=f"line {row + 1}")
    return matrix


def _first_computing(weights: Floats, inputs: int | None) -> int:
    """The first node that computes."""
    entered = np.flatnonzero(np.any(weights != 0.0, axis=0))
    most = int(entered[0]) if entered.size else len(weights) - 1
    if most < 1:
        raise NetworkError("a connection to the first node, which is the bias", where="column 1")
    if inputs is None:
        return most
    if inputs >= most:
        text = f"{inputs!r} inputs, but the node {most} is entered by connections"
        raise OptionError(text, where="inputs", hint=f"At most {most - 1}")
    return int(inputs) + 1


def _first_output(weights: Floats, first: int, outputs: int | None) -> int:
    """The first output: without a number, the first of the nodes at the end that nothing leaves."""
    if outputs is not None:
        most = len(weights) - first
        if outputs > most:
            hint = f"From 1 to {most}"
            raise OptionError(f"there cannot be {outputs!r} outputs", where="outputs", hint=hint)
        return len(weights) - int(outputs)
    leaving = np.any(weights != 0.0, axis=1)
    last = len(weights) - 1
    while last > first and not leaving[last - 1]:
        last -= 1
    return last


def _refuse_backward(weights: Floats) -> None:
    """Refuse connections from nodes that are computed later: the library reads 0 from them."""
    source, target = np.nonzero(np.tril(weights))
    if source.size:
        text = f"a connection from node {source[0]} to node {target[0]}, which does not come later"
        raise NetworkError(text, where=f"line {source[0] + 1}")


def _activation(code: float, node: int) -> str:
    name = ACTIVATION_NAMES.get(f"{code:g}")
    if name is None:
        warn(f"unknown activation {code:g} of node {node}: the library takes the identity")
    return name or "identity"
