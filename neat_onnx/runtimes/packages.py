"""Runtimes that are packages of Python: a function each, named like the runtime.

Each imports its package when it is called, and changes nothing in the model.
"""

import importlib
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.model import DataType, Model, Node, Tensor
from neat_onnx.model.corrected import corrected
from neat_onnx.model.crashes import tensors_read
from neat_onnx.model.draft import with_graph
from neat_onnx.model.wiring import nodes_within
from neat_onnx.runtimes import Feed, Session, not_installed

_RECURRENT = ("RNN", "GRU", "LSTM")
_LENGTHS = 4  # the position of sequence_lens


def _package(module: str, runtime: str) -> Any:
    """Import the module of a runtime that may not be installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise not_installed(runtime) from None


def reference(model: Model) -> Session:
    """onnx's own reference evaluator: slow, in numpy, and at hand wherever onnx is.

    Raises:
        ModelError: sequences have lengths of their own, which the evaluator passes over.
    """
    known = {"", *model.graph.tensors}
    for node in nodes_within(model.graph):
        if node.op_type in _RECURRENT and not known.issuperset(node.input[_LENGTHS : _LENGTHS + 1]):
            text = f"node {node.label}: onnx's evaluator does not read sequence_lens"
            raise ModelError(text, hint="Compare it in another runtime, as onnxruntime")
    return evaluated(model, model.to_proto())


def evaluated(model: Model, proto: Any) -> Session:
    """onnx's evaluator of the ModelProto of a model, which may have wider types."""
    import onnx  # noqa: PLC0415 - slow to import
    from onnx.reference import ReferenceEvaluator  # noqa: PLC0415 - slow to import

    evaluator = ReferenceEvaluator(proto, new_ops=corrected(model))

    def run(feed: Feed) -> dict[str, Any]:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of a pool that takes means of nothing
            return dict(zip(evaluator.output_names, evaluator.run(None, feed), strict=True))

    return Session(run, f"onnx.reference {onnx.__version__}")


def onnxruntime(model: Model) -> Session:
    """ONNX Runtime, its CPU provider, which rewrites a model to be fast."""
    return session_of(model.to_bytes(), optimized=True)


def onnxruntime_as_written(model: Model) -> Session:
    """ONNX Runtime, each node to be run as it stands.

    Its rewrites of quantized values round where the graph does not.
    """
    return session_of(_with_unsigned_weights(model).to_bytes(), optimized=False)


def session_of(content: bytes, *, optimized: bool) -> Session:
    """ONNX Runtime's session of a file's bytes."""
    ort = _package("onnxruntime", "onnxruntime")
    options = ort.SessionOptions()
    options.log_severity_level = 4
    if not optimized:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        options.enable_mem_reuse = False  # to plan it takes long where sizes are not stated
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # threads wait idle
    options.add_session_config_entry("session.x64quantprecision", "1")  # sums that do not saturate
    session = ort.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]

    def run(feed: Feed) -> dict[str, Any]:
        return dict(zip(names, session.run(names, feed), strict=True))

    rewrites = "" if optimized else " without rewrites"
    return Session(run, f"onnxruntime {ort.__version__}{rewrites}")


def in_parts(proto: Any, count: int) -> Session:
    """ONNX Runtime of a ModelProto, each node run as it stands, by sessions of so many nodes each.

    To start one takes a time that grows with the square of its nodes and initializers. A session is
    started when values come that tell the types of what it reads.
    """
    import onnx  # noqa: PLC0415 - slow to import
    from onnx import helper  # noqa: PLC0415 - slow to import

    nodes, wanted = proto.graph.node, [entry.name for entry in proto.graph.output]
    parts = [nodes[at : at + count] for at in range(0, len(nodes), count)]
    read = [tensors_read(part) for part in parts]
    tensors = {tensor.name: tensor for tensor in proto.graph.initializer}
    last = {name: at for at, names in enumerate(read) for name in names}  # that reads it
    last |= dict.fromkeys(wanted, len(parts))
    sessions: list[Session] = []

    def started(at: int, values: Feed) -> Session:
        part = onnx.ModelProto(ir_version=proto.ir_version, opset_import=proto.opset_import)
        part.graph.name = f"part {at}"
        part.graph.node.extend(parts[at])
        for name in sorted((read[at] & tensors.keys()) - values.keys()):
            part.graph.initializer.append(tensors[name])
        for name in sorted(read[at] & values.keys()):
            kind = helper.np_dtype_to_tensor_dtype(values[name].dtype)
            shape = [None] * values[name].ndim
            part.graph.input.append(helper.make_tensor_value_info(name, kind, shape))
        made = dict.fromkeys(name for node in parts[at] for name in node.output)
        for name in made:
            if last.get(name, at) > at:
                part.graph.output.add(name=name)
        return session_of(part.SerializeToString(), optimized=False)

    def run(feed: Feed) -> dict[str, Any]:
        values = dict(feed)
        for at, names in enumerate(read):
            if at == len(sessions):
                sessions.append(started(at, values))
            values |= sessions[at].run({name: values[name] for name in names & values.keys()})
        return {name: values[name] for name in wanted}

    return Session(run, "onnxruntime without rewrites, in parts")


_PLACES = {  # of the zero point of the data, of the weights, and of their zero point
    "MatMulInteger": (2, 1, 3),
    "ConvInteger": (2, 1, 3),
    "QLinearMatMul": (2, 3, 5),
    "QLinearConv": (2, 3, 5),
    "QGemm": (2, 3, 5),
}
_SHIFT = 128


def _with_unsigned_weights(model: Model) -> Model:
    """The model whose integer products with constant weights have those in uint8.

    ONNX Runtime adds up products of uint8 and int8 in 16 bits on x86 processors without VNNI, where
    they saturate; of uint8 and uint8 it does not. The weights and their zero point, both 128 more,
    are the same numbers.
    """
    given = model.graph.tensors
    made: dict[str, Tensor] = {}

    def shifted(tensor: Tensor | None) -> str:
        name = f"{tensor.name if tensor is not None else ''} + {_SHIFT}"
        values = np.int64(_SHIFT) + (tensor.values if tensor is not None else np.int64(0))
        made.setdefault(name, Tensor.of(name, values, DataType.UINT8))
        return name

    def unsigned(node: Node) -> Node:
        places = _PLACES.get(node.op_type)
        if places is None:
            return node
        reads = [*node.input, *[""] * (max(places) + 1 - len(node.input))]
        data, weights, zero = (given.get(reads[place]) for place in places)
        known = zero is not None or not reads[places[2]]
        kinds = [each.data_type if each is not None else None for each in (data, weights)]
        if kinds != [DataType.UINT8, DataType.INT8] or not known:
            return node
        reads[places[1]], reads[places[2]] = shifted(weights), shifted(zero)
        return node.model_copy(update={"input": reads})

    nodes = [unsigned(node) for node in model.graph.node]
    initializers = [*model.graph.initializer, *made.values()]
    return with_graph(model, node=nodes, initializer=initializers) if made else model


def tract(model: Model) -> Session:
    """tract, Sonos's inference engine written in Rust.

    A model with a recurrent layer is loaded for the shapes of each feed: tract makes its initial
    state for a number of samples that it knows, and ends the process where it knows none.
    """
    engine = _package("tract", "tract")
    inputs = [entry.name for entry in model.graph.inputs]
    outputs = [entry.name for entry in model.graph.outputs]

    def runnable(feed: Feed) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.onnx"
            path.write_bytes(model.to_bytes())
            read = engine.onnx().load(path)
        for place, name in enumerate(inputs if feed else []):
            kind = f"{feed[name].dtype.kind}{8 * feed[name].dtype.itemsize}"
            read.set_input_fact(place, ",".join([*map(str, feed[name].shape), kind]))  # "2,3,f32"
        return read.into_model().into_runnable()

    stated = any(node.op_type in _RECURRENT for node in model.graph.node)
    loaded = None if stated else runnable({})

    def run(feed: Feed) -> dict[str, Any]:
        values = (loaded or runnable(feed)).run([feed[name] for name in inputs])
        return {name: value.to_numpy() for name, value in zip(outputs, values, strict=True)}

    return Session(run, f"tract {engine.version()}")


def opencv(model: Model) -> Session:
    """OpenCV's module of neural networks."""
    cv2 = _package("cv2", "opencv")
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    net = cv2.dnn.readNetFromONNX(np.frombuffer(model.to_bytes(), np.uint8))
    outputs = [entry.name for entry in model.graph.outputs]

    def run(feed: Feed) -> dict[str, Any]:
        for name, value in feed.items():
            net.setInput(value, name)
        values = net.forward(outputs)
        return {name: np.array(value) for name, value in zip(outputs, values, strict=True)}

    return Session(run, f"opencv {cv2.__version__}")


def openvino(model: Model) -> Session:
    """OpenVINO, its CPU device, in float32.

    Without the second setting, values are rounded to 8 bits before a product with weights of 8.
    """
    ov = _package("openvino", "openvino")
    settings = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0}
    core = ov.Core()
    compiled = core.compile_model(core.read_model(model.to_bytes()), "CPU", settings)
    outputs = [entry.name for entry in model.graph.outputs]

    def run(feed: Feed) -> dict[str, Any]:
        values = compiled(feed)
        return {name: np.array(values[at]) for at, name in enumerate(outputs)}

    return Session(run, f"openvino {ov.__version__.split('-')[0]}")
