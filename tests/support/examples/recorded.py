"""Cases recorded by libraries' own code, which stand in the folders of tests/libraries."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neat_onnx import Network


def recorded_cases(rooms: Mapping[str, str]) -> list[tuple[str, Path]]:
    """The library and the file of each case, of rooms by their folders.

    Raises:
        LookupError: a room has no case: a test over nothing would pass.
    """
    found = {
        room: sorted((Path(__file__).parents[2] / "libraries" / room).glob("*.json"))
        for room in rooms
    }
    if not all(found.values()):
        raise LookupError(f"a room of {', '.join(rooms)} has no case")
    return [(rooms[room], path) for room, paths in found.items() for path in paths]


def outputs(net: Network, case: Mapping[str, Any]) -> Any:
    """What a network computes of a case's inputs."""
    return net.run(case["inputs"]) if case["sequence"] else net.activate(case["inputs"])
