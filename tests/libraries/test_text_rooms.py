"""Libraries whose files are text, XML or matrices: recorded cases, read and written back."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neat_onnx import Network, NetworkError, load_network

ROOMS = {"sharpneat": "sharpneat"}
BOUND = 1e-12
CASES = [
    (library, path)
    for room, library in ROOMS.items()
    for path in sorted((Path(__file__).parent / room).glob("*.json"))
]
QUIET = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")


def read(case: dict[str, Any]) -> Network:
    source = case["source"]
    content = source.encode() if isinstance(source, str) else source
    return load_network(content, **case.get("options", {}))


def outputs(net: Network, case: dict[str, Any]) -> Any:
    return net.run(case["inputs"]) if case["sequence"] else net.activate(case["inputs"])


@QUIET
@pytest.mark.parametrize(("library", "path"), CASES, ids=lambda part: getattr(part, "stem", part))
def test_recorded_networks_compute_what_the_library_computes(library, path):
    case = json.loads(path.read_text("utf-8"))
    net = read(case)
    assert net.library == library
    bound = case.get("bound", BOUND)
    np.testing.assert_allclose(outputs(net, case), case["outputs"], rtol=bound, atol=bound)
    try:
        written = net.to_library(library)
    except NetworkError as error:
        assert "cannot say" in error.message or "cannot be written" in error.message
        assert case["refused"] in error.message
        return
    assert "refused" not in case
    content = written.encode() if isinstance(written, str) else json.loads(json.dumps(written))
    again = load_network(content, **case.get("options", {}))
    np.testing.assert_allclose(outputs(again, case), outputs(net, case), rtol=1e-14, atol=1e-14)


def test_every_room_has_cases():
    assert {library for library, _ in CASES} == set(ROOMS.values())
