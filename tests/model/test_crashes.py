"""Models that onnx's own checker does not survive: refused, and the process goes on."""

import subprocess
import sys

import onnx
import pytest
from graphs import graph, node

ABORTING = {
    "more outputs than num_outputs": graph(
        [node("Split", "x", "y a b", axis=1, num_outputs=2)], x=("N", 6)
    ),
    "num_outputs of a billion": graph(
        [node("Split", "x", "y a", axis=1, num_outputs=2**31)], x=("N", 6)
    ),
    "an axis beyond 32 bits": graph(
        [node("LayerNormalization", "x s", "y m d", axis=2**31)], s=[1.0, 1.0, 1.0]
    ),
    "an input that is left out": graph([node("EyeLike", "_", "y", dtype=1)]),
    "a long vector": graph([node("Add", "x x", "y")], x=(2**31,)),
}

PROGRAM = """
import sys, warnings, neat_onnx
warnings.simplefilter("ignore")
data = sys.stdin.buffer.read()
for verb in (neat_onnx.validate, neat_onnx.import_model, neat_onnx.canonicalize, neat_onnx.convert):
    try:
        found = verb(data)
    except neat_onnx.NeatOnnxError as error:
        found = error
    print(verb.__name__, found)
"""


@pytest.mark.parametrize("name", ABORTING)
def test_no_model_ends_the_process(name: str):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=ABORTING[name].SerializeToString(),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().count("\n") == 4


def test_inside_of_functions_too():
    nodes = [node("Split", "x", "y a b", axis=1, num_outputs=2)]
    opset = [onnx.helper.make_opsetid("", 18)]
    own = onnx.helper.make_function("own", "Thirds", ["x"], ["y"], nodes, opset)
    model = graph([onnx.helper.make_node("Thirds", ["x"], ["y"], domain="own")], x=("N", 6))
    model.functions.append(own)
    model.opset_import.append(onnx.helper.make_opsetid("own", 1))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=model.SerializeToString(),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
