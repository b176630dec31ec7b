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

SLICED = """<ir_version: 8, opset_import: ["": 18, "own": 1]>
g (float[1,1,3,3] x, float[1,1,7,7] w) => (float[A,B,C,D] y)
<int64[1] s = {0}, int64[1] e = {2}, int64[1] a = {2}, bool b = {1},
    int64[8] less = {0, 0, -5, 0, 0, 0, -4, 0}>
{ BEFORE y = Slice(q, s, e, a) }
<domain: "own", opset_import: ["": 18]> Shrunk (x, w) => (y) { y = Conv(x, w) }
<domain: "own", opset_import: ["": 18]> Cut (x, w, s, e, a) => (y)
{ c = Conv(x, w) y = Slice(c, s, e, a) }"""
BEFORE_A_SLICE = {  # a size of it is below 0
    "a large window": "q = Conv(x, w)",
    "two windows": "p = Slice(x, s, e) r = Relu(p) q = MaxPool<kernel_shape = [7, 7]>(r)",
    "a Pad": "q = Pad(x, less)",
    "a Slice in a branch": """q = If(b)<
        then_branch = t() => (float r) { p = Conv(x, w) r = Slice(p, s, e, a) },
        else_branch = f() => (float r) { r = Identity(x) }>""",
    "branches": """q = If(b)<then_branch = t() => (float r) { r = Conv(x, w) },
        else_branch = f() => (float r) { r = Conv(x, w) }>""",
    "a Slice in a function": "q = own.Cut(x, w, s, e, a)",
    "the result of a function": "q = own.Shrunk(x, w)",
}

PROGRAM = """
import sys, warnings, neat_onnx
from pathlib import Path
warnings.simplefilter("ignore")
verbs = (neat_onnx.validate, neat_onnx.import_model, neat_onnx.canonicalize, neat_onnx.convert)
for path in map(Path, sys.argv[1:]):
    for verb in verbs:
        print(path.stem, end=": ", flush=True)
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


def sliced(before: str, first: str = "1") -> onnx.ModelProto:
    text = SLICED.replace("BEFORE", before).replace("float[1,1,3,3]", f"float[{first},1,3,3]")
    return onnx.parser.parse_model(text)


def unsorted() -> onnx.ModelProto:
    model = sliced(BEFORE_A_SLICE["a large window"])
    nodes = [*model.graph.node][::-1]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    model.graph.output[0].ClearField("type")
    return model


def test_no_model_ends_the_process(tmp_path: Path):
    """All in one process, which tells the model before each verb."""
    models = {**ABORTING, "inside of a function": inside_of_a_function()}
    models |= {name: sliced(before) for name, before in BEFORE_A_SLICE.items()}
    models["nodes that are not sorted"] = unsorted()
    models["a stated size"] = sliced("n = Neg(s) q = Slice(x, s, n, s)", "-4")
    paths = [tmp_path / f"{name}.onnx" for name in models]
    for path, model in zip(paths, models.values(), strict=True):
        path.write_bytes(model.SerializeToString())
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *paths], capture_output=True, check=False, timeout=120
    )
    told = "\n" + done.stdout.decode()
    assert done.returncode == 0, told + done.stderr.decode()
    for name in models:
        assert told.count(f"\n{name}: ") == 4, told
