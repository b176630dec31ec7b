"""Models that onnx's own checker does not survive: refused, and the process goes on."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from support.examples.graphs import graph, node

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
    "fewer batch axes than none": graph(
        [node("GatherND", "x at", "y", batch_dims=-(2**31))],
        x=(1, 4, 4),
        at=np.zeros((1, 2, 2), np.int64),
    ),
    "a long vector": graph([node("Add", "x x", "y")], x=(2**31,)),
}

PROGRAM = """
import sys, warnings, neat_onnx
from pathlib import Path
warnings.simplefilter("ignore")
verbs = (neat_onnx.validate, neat_onnx.import_model, neat_onnx.canonicalize, neat_onnx.convert)
for path in map(Path, sys.argv[1:]):
    for verb in verbs:
        print(path.stem, verb.__name__, end=": ", flush=True)
        try:
            print(verb(path.read_bytes()))
        except neat_onnx.NeatOnnxError as error:
            print(error)
"""


def inside_of_a_function() -> onnx.ModelProto:
    nodes = [node("Split", "x", "y a b", axis=1, num_outputs=2)]
    opset = [onnx.helper.make_opsetid("", 18)]
    own = onnx.helper.make_function("own", "Thirds", ["x"], ["y"], nodes, opset)
    model = graph([onnx.helper.make_node("Thirds", ["x"], ["y"], domain="own")], x=("N", 6))
    model.functions.append(own)
    model.opset_import.append(onnx.helper.make_opsetid("own", 1))
    return model


def test_no_model_ends_the_process(tmp_path: Path):
    """All in one process, which tells the model and the verb before each."""
    models = {**ABORTING, "inside of a function": inside_of_a_function()}
    paths = [tmp_path / f"{name}.onnx" for name in models]
    for path, model in zip(paths, models.values(), strict=True):
        path.write_bytes(model.SerializeToString())
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *paths], capture_output=True, check=False, timeout=120
    )
    told = done.stdout.decode()
    assert done.returncode == 0, told + done.stderr.decode()
    for name in models:
        assert told.count(f"{name} ") == 4, told
