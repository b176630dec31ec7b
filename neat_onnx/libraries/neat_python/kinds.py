"""The reader of each kind of network of neat-python, by `network_type`."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.libraries.neat_python import static
from neat_onnx.libraries.neat_python.times import Times
from neat_onnx.network.network import Network


def read(document: Mapping[str, Any], times: Times) -> Network:
    """Return the network of a document of any kind.

    Raises:
        NetworkError: it is not a network; says where.
        OptionError: times are given to a network whose step is no amount of time, or missing.
    """
    kind = document.get("network_type")
    if kind == "ctrnn":
        from neat_onnx.libraries.neat_python import ctrnn  # noqa: PLC0415 - few networks are

        return ctrnn.read(document, times)
    if kind == "iznn":
        from neat_onnx.libraries.neat_python import iznn  # noqa: PLC0415 - few networks are

        return iznn.read(document, times)
    times.refuse()
    return static.read(document)
