"""The verbs of the public surface.

Each imports its room when it is called: the operators are many classes, and whoever only reads
or runs a network, or waits for the page to start, need not wait for them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack

from neat_onnx.arguments import FLAG, MAPPING, NUMBER, TEXT, TEXTS, WHOLE, one_of, optional, takes
from neat_onnx.collector import collector_paused
from neat_onnx.errors import NetworkError, OptionError, warn
from neat_onnx.libraries import load_network
from neat_onnx.model import Model, load_model
from neat_onnx.model.budget import check_ports
from neat_onnx.model.node import find_operators_with
from neat_onnx.network.activations import Activation, activation_named
from neat_onnx.network.hooks import does
from neat_onnx.network.network import Network
from neat_onnx.network.saving import Writer
from neat_onnx.options import ExportOptions, export_options
from neat_onnx.options.keywords import ExportKeywords, takes_export_options

if TYPE_CHECKING:
    from neat_onnx.codegen.generate import CodeLanguage
    from neat_onnx.lifting.axes import BatchAxis
    from neat_onnx.training.torch_module import NetworkModule
    from neat_onnx.verification.certificate import Certificate
    from neat_onnx.verification.networks import NetworkDiff
    from neat_onnx.verification.report import Report

# ruff: noqa: PLC0415 (see above)
_BATCH_AXIS, _DTYPE = optional(one_of("auto")), one_of("float32", "float64")


@find_operators_with
def _import_operators() -> None:
    import neat_onnx.operators.export.nodes  # noqa: F401


@does("advise")
def _advise(error: NetworkError, net: Network, library: Writer) -> None:
    from neat_onnx.cutting import add_deepest_tensor

    add_deepest_tensor(error, net, library)


@does("draw")
def _draw(net: Network, form: Literal["svg", "html"]) -> str:
    from neat_onnx.drawing import svg

    return svg.to_svg(net) if form == "svg" else svg.fragment(net)


@takes_export_options
def export(net: Any, *, options: Any = None, **keywords: Unpack[ExportKeywords]) -> Model:
    """Turn a network into ONNX.

    Args:
        net: a Network, or whatever `load_network` reads.
        options: the options as one document; camelCase names are read too.
        keywords: the same options one by one, listed below; they win over the document.

    Returns:
        A valid ONNX model that computes the same, with the batch as the first axis of every input
        and output. With `dialect="neataptic"` it is a document of NeatapticTS, to be saved as JSON.

    Raises:
        NetworkError: the network cannot be exported, for example because of a cycle, or because a
            type cannot hold its genes; or the neataptic dialect cannot hold it, or would lose
            something.
        OptionError: an option is unknown, or has a value that it cannot have, or not in this
            dialect.
    """
    wanted = export_options(options, **keywords)
    network = load_network(net)
    if wanted.preset == "none" and not wanted.rename:
        return _export(network, wanted)
    from neat_onnx.engines import export_for_engine

    return export_for_engine(network, wanted, _export)


@collector_paused()
def _export(network: Network, wanted: ExportOptions) -> Model:
    """Return the model that options without a preset describe."""
    if wanted.quantize != "none":
        from neat_onnx.quantization import export_quantized

        return export_quantized(network, wanted)
    if wanted.dialect == "neataptic":
        from neat_onnx.libraries.neataptic_ts.onnx.write import write_network

        return write_network(network, wanted)
    if wanted.legacy_node_ordering:
        warn(
            "legacy_node_ordering is for the neataptic dialect only: in valid ONNX a node stands "
            "after those that it reads"
        )
    from neat_onnx.lowering.core import export_network
    from neat_onnx.verification.rounding import warn_of_overflow

    model = export_network(network, wanted)
    warn_of_overflow(network, model)
    return model


@takes(
    batch_axis=_BATCH_AXIS,
    outputs=optional(TEXTS),
    shapes=optional(MAPPING),
    memory=optional(MAPPING),
    check=FLAG,
)
def import_model(
    model: Any,
    *,
    batch_axis: "BatchAxis" = "auto",
    outputs: Sequence[str] | None = None,
    shapes: Mapping[str, Sequence[int | str | None]] | None = None,
    memory: Mapping[str, str] | None = None,
    check: bool = True,
) -> Network:
    """Turn ONNX into a network that can evolve on.

    The graph is lifted; metadata that `export` wrote adds ids, names and genes that do not compute
    (a NeatOnnxWarning says if it does not fit).

    Args:
        model: a Model, or whatever `load_model` reads.
        batch_axis: "auto" takes the axis of no fixed size for the batch, else the first; with None
            every axis is features, and a batch of no fixed size is a single sample.
        outputs: the outputs to import, by name, or tensors inside the graph (a NeatOnnxWarning
            names the operators behind them); None takes all outputs that are neither constant nor
            random, or if all are, tensors that they are drawn from.
        shapes: sizes of inputs' open axes, as `{"audio": ("N", 1, 256)}`; a name or None stays.
        memory: the output that feeds an input in the next step, as `{"hx": "hx_next"}`; {} for
            none. None: as names tell, or the recurrent layers that begin and end with the two.
        check: compare network and model on a few samples, unless the model is an unchanged export
            or onnx's reference evaluator cannot run it in seconds.

    Returns:
        A network whose ports are the graph's inputs and outputs, without its memory; its `source`
        is the model, unless an export wrote that.

    Raises:
        ModelError: neurons cannot compute a node, or differ in the check; says where.
        OptionError: the graph has no such output or input, or they have other shapes.
    """
    with collector_paused():
        from neat_onnx.cutting import warn_of_cut
        from neat_onnx.genome.read import imported
        from neat_onnx.lifting.source import with_source
        from neat_onnx.model.ports import with_input_shapes, with_memory

        read = with_input_shapes(load_model(model), shapes or {})
        check_ports(read.graph)
        found = imported(with_memory(read, memory), batch_axis, outputs, check=check)
        warn_of_cut(read, outputs)
        if found.as_exported:
            return found.network
        seen = batch_axis if found.lifted.has_batch else None
        return with_source(found.network, found.model, seen, outputs)


def convert(source: Any) -> Model:
    """Make a model valid ONNX, to be saved as binary or as JSON: NeatapticTS's above all.

    Outputs are produced, inputs get a batch axis, nodes are sorted, tensors shaped as their readers
    want them, nodes on which no output depends are left out, and the versions are filled in. Each
    of these is a NeatOnnxWarning. A model that is valid stays as it is.

    Args:
        source: a Model, or whatever `load_model` reads.

    Returns:
        A model that `validate` finds nothing wrong with.

    Raises:
        ModelError: it contradicts itself, is ambiguous, or would not be valid ONNX
            even so; says which node.
    """
    from neat_onnx.conversion import converted

    return converted(load_model(source))


def canonicalize(source: Any) -> Model:
    """Bring a model to one form, whatever its age and the tool that wrote it.

    Constants become initializers, and nodes that depend on constants alone are computed; operators
    take the form they have at opset 18; Identity and Dropout go; dead nodes are dropped.
    The result computes the same, is valid ONNX, and its own canonical form. Inputs and outputs keep
    their names.

    Args:
        source: a Model, or whatever `load_model` reads.

    Returns:
        A model of opset 18, or of its own opset if that is later.

    Raises:
        ModelError: an operator has no modern form.
    """
    from neat_onnx.libraries.neataptic_ts.onnx.repair import repaired
    from neat_onnx.passes import canonicalize as canonical

    return canonical(repaired(load_model(source)))


@takes(batch_axis=_BATCH_AXIS, memory=optional(MAPPING))
def verify(
    net: Any,
    model: Any,
    *,
    samples: int = 256,
    seed: int = 0,
    runtime: str = "reference",
    batch_axis: "BatchAxis" = "auto",
    memory: Mapping[str, str] | None = None,
) -> "Report":
    """Compare a network with a model on sampled inputs: zeros, ones, normal and large ones.

    A network with memory is compared on sequences of 16 steps, each from the initial state, and on
    a few of hundreds of steps. The model is run as it is, by a runtime that is not ours, a
    quantized one without rewrites, because they round at other places.

    Args:
        net: a Network, or whatever `load_network` reads.
        model: a Model, or whatever `load_model` reads.
        samples: how many inputs, or sequences, 4 or more.
        seed: the same seed gives the same samples.
        runtime: "reference" is onnx's reference evaluator; "onnxruntime", "tract", "opencv" and
            "openvino" have to be installed. "c" and "javascript" import the model and run the code
            that `generate_code` prints of it, compiled by cc, gcc or clang, or in Node.
        batch_axis: with None every axis of the model's inputs has to be one of the network's.
        memory: as for `import_model`, where neither names nor the network tell.

    Returns:
        A report; its `verdict` is "equal", "equal within float32", or "different": not `passed`.

    Raises:
        ModelError: the runtime refuses the model, or inputs and outputs do not fit the network's.
        OptionError: an unknown runtime, one that is not installed, too few samples, a seed that is
            no integer from 0 on, or memory that the model does not have.
    """
    from neat_onnx.model.ports import with_memory
    from neat_onnx.runtimes.ports import check_every_axis
    from neat_onnx.verification.compare import compare

    network, loaded = load_network(net), with_memory(load_model(model), memory)
    if batch_axis is None:
        check_every_axis(network, loaded)
    return compare(network, loaded, samples=samples, seed=seed, runtime=runtime)


def to_torch(net: Any) -> "NetworkModule":
    """Turn a network into a module of PyTorch whose parameters are its weights and biases.

    Parameters are genes on which an output depends: `weight`, `bias` and `response`, float64 until
    `module.float()`. `module(x)` takes and gives tensors as `Network.activate` does
    arrays, (N, I) to (N, O); with memory `module(x, state)` also gives the next state, and
    `module.initial_state(N)` is the first. `module.to_network()` is the same genome with the
    parameters as they are then.

    Args:
        net: a Network, or whatever `load_network` reads.

    Returns:
        The module, a `torch.nn.Module`.

    Raises:
        OptionError: PyTorch is not installed.
        NetworkError: connections without delay form a cycle.
    """
    from importlib.util import find_spec

    if find_spec("torch") is None:
        raise OptionError("PyTorch is not installed", hint="pip install torch")
    from neat_onnx.training.torch_module import NetworkModule

    return NetworkModule(load_network(net))


@takes(activation=TEXT, max_weight=NUMBER, threshold=NUMBER, bias=NUMBER)
def substrate_network(
    cppn: Any,
    layers: Sequence[Any],
    *,
    activation: str = "neat_sigmoid",
    max_weight: float = 5.0,
    threshold: float = 0.2,
    bias: float = 0.0,
) -> Network:
    """Make the network that a CPPN describes on a substrate: HyperNEAT.

    The connection from coordinates a to b has the weight that the CPPN's first output gives for
    (a, b, 1): none where it is not beyond `threshold`, else scaled to at most `max_weight`. A
    network of one hidden layer computes the outputs that pureples' converges to. A neuron that no
    connection leads to is the constant 0, as there.

    Args:
        cppn: a Network of 2d inputs, or 2d + 1 with a constant 1, or whatever `load_network` reads.
        layers: the coordinates of the neurons of each layer, (n, d), from inputs to outputs; each
            layer is connected with the next.
        activation: of all neurons; "neat_sigmoid" is neat-python's sigmoid.
        max_weight: the largest weight, for an output of 1 of the CPPN.
        threshold: outputs of the CPPN up to here are no connection; 0 to below 1.
        bias: of all neurons that have connections.

    Returns:
        A feed-forward network, its neurons numbered layer by layer.

    Raises:
        OptionError: the CPPN has another number of inputs; layers are no coordinates of one space;
            or an argument is out of its range.
        NeatOnnxError: as `load_network`.
    """
    from neat_onnx.network import substrate

    described = substrate.Cppn(load_network(cppn), max_weight, threshold)
    return substrate.substrate_network(described, layers, activation, bias)


@takes(
    activation=TEXT, max_weight=NUMBER, threshold=NUMBER, bias=NUMBER, initial_depth=WHOLE,
    max_depth=WHOLE, division_threshold=NUMBER, variance_threshold=NUMBER, band_threshold=NUMBER,
    iterations=WHOLE,
)  # fmt: skip
def es_substrate_network(
    cppn: Any,
    inputs: Any,
    outputs: Any,
    *,
    activation: str = "neat_sigmoid",
    max_weight: float = 5.0,
    threshold: float = 0.2,
    bias: float = 0.0,
    initial_depth: int = 1,
    max_depth: int = 2,
    division_threshold: float = 0.5,
    variance_threshold: float = 0.03,
    band_threshold: float = 0.3,
    iterations: int = 1,
) -> Network:
    """Make the network that a CPPN describes, with hidden neurons where it varies: ES-HyperNEAT.

    A quadtree over [-1, 1]² divides where weights vary, and connections within bands are expressed;
    they lead upwards (along the second coordinate), and those on a way from an input to an output
    stay. It computes the outputs that pureples' network converges to, with the same parameters.

    Args:
        cppn: as for `substrate_network`.
        inputs: coordinates in the plane, (n, 2).
        outputs: the same.
        activation: as for `substrate_network`.
        max_weight: as for `substrate_network`.
        threshold: as for `substrate_network`.
        bias: as for `substrate_network`.
        initial_depth: the tree is divided to this depth in any case, up to 12.
        max_depth: and to this depth where four weights vary.
        division_threshold: the least variance that counts as such.
        variance_threshold: connections are expressed where the variance of weights is not above.
        band_threshold: the least difference from the weights on both sides.
        iterations: how many times hidden neurons found so far are searched from (pureples:
            iteration_level).

    Returns:
        A feed-forward network: inputs, outputs, then hidden neurons from the lowest up.

    Raises:
        OptionError: as for `substrate_network`.
        NeatOnnxError: as `load_network`.
    """
    from neat_onnx.network import substrate

    search = substrate.Search(
        initial_depth, max_depth, division_threshold, variance_threshold, band_threshold, iterations
    )
    described = substrate.Cppn(load_network(cppn), max_weight, threshold)
    return substrate.es_substrate_network(described, inputs, outputs, activation, bias, search)


def diff(a: Any, b: Any, *, samples: int = 256, seed: int = 0) -> "NetworkDiff":
    """Compare two networks: gene by gene, matched by ids, then on sampled inputs.

    Args:
        a: a Network, a Model, or whatever `load_network` reads.
        b: the other one.
        samples: how many inputs both run on, 4 or more; sequences of 16 steps if they have memory.
        seed: the same seed gives the same samples.

    Returns:
        Genes that were added, are gone or were changed, and by how much the outputs differ.

    Raises:
        OptionError: too few samples, or a seed that is no integer from 0 on.
        NeatOnnxError: as `load_network`.
    """
    from neat_onnx.verification.networks import compare_networks

    one, other = (
        import_model(each) if isinstance(each, Model) else load_network(each) for each in (a, b)
    )
    return compare_networks(one, other, samples, seed)


@takes(name=TEXT)
def activation(name: str) -> Activation:
    """Return the activation of a name: a function of arrays, with its formula and its bounds.

    Args:
        name: a name that networks use, as "tanh" or "neat_sigmoid", or a formula: "formula: z * z".

    Returns:
        The activation; it can be called with an array.

    Raises:
        NetworkError: there is none; the hint lists those there are.
    """
    return activation_named(name)


@takes(language=TEXT, dtype=_DTYPE, name=TEXT)
def generate_code(
    net: Any,
    *,
    language: "CodeLanguage" = "c",
    dtype: Literal["float32", "float64"] = "float64",
    name: str = "network",
) -> str:
    """Print a network as source code that needs no runtime.

    The text holds the weights as tables, and functions that compute one sample; a network with
    memory has a state that is reset and stepped. No language needs more than its own mathematics.
    The head of the text shows how to call it.

    Args:
        net: a Network, or whatever `load_network` reads.
        language: "c" (C99), "header" (C to be included, for C++ and Arduino too), "csharp",
            "gdscript" (Godot), "javascript" (an ES module) or "python".
        dtype: the type of the numbers; "float32" in C only.
        name: the beginning of the names of C's functions, or C#'s class; else it is refused.

    Returns:
        The source text; the same network always gives the same one.

    Raises:
        NetworkError: connections without delay form a cycle.
        OptionError: an unknown language or type; a number or a name that it cannot have.
    """
    from neat_onnx.codegen.generate import generate

    return generate(load_network(net), language, dtype, name)


@takes(runtimes=TEXTS)
def certify(
    net: Any,
    model: Any,
    *,
    samples: int = 256,
    seed: int = 0,
    runtimes: Sequence[str] = ("reference",),
    options: Any = None,
) -> "Certificate":
    """Compare a network with a model, and write the comparison down so that others can repeat it.

    Args:
        net: a Network, or whatever `load_network` reads.
        model: a Model, or whatever `load_model` reads.
        samples: as in `verify`.
        seed: as in `verify`.
        runtimes: the runtimes that run the model, as in `verify`; each is written down.
        options: the export options to write down, as one document; None if they are not known.

    Returns:
        A certificate, whatever its verdict: hashes of network and model, how inputs were sampled,
        the errors in each runtime, the bound and the reason for it.

    Raises:
        ModelError, OptionError: as `verify`.
    """
    from neat_onnx.verification.certificate import issue

    given = {} if options is None else export_options(options).model_dump(exclude_defaults=True)
    return issue(
        load_network(net),
        load_model(model),
        samples=samples,
        seed=seed,
        runtimes=tuple(runtimes),
        options=given,
    )


def replay(certificate: Any, net: Any, model: Any) -> "Report":
    """Repeat the comparison of a certificate.

    Args:
        certificate: a Certificate, a path, or its JSON.
        net: a Network, or whatever `load_network` reads.
        model: a Model, or whatever `load_model` reads.

    Returns:
        The report of the worst runtime, as `verify` gives it.

    Raises:
        DocumentError: the certificate was changed; network or model are not those that it names; or
            the errors are larger than it says.
        ModelError, OptionError: as `verify`.
    """
    from neat_onnx.verification.certificate import load_certificate, repeat

    return repeat(load_certificate(certificate), load_network(net), load_model(model))


def json_schema(name: Literal["model", "network", "options", "certificate"]) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of one kind of document.

    Args:
        name: "model" (JSON ONNX), "network", "options" (of export) or "certificate".

    Returns:
        The schema as the value of its JSON document.

    Raises:
        OptionError: there is no schema of that name.
    """
    from neat_onnx.schemas import schema_named

    return schema_named(name)


@takes(domain=TEXT, op_type=TEXT)
def operator(domain: str, op_type: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as an operator of a domain of your own.

        @neat_onnx.operator("my.domain", "Bump")
        def bump(z, width: float = 1.0):
            return exp(-(width * z * z))

    Import puts the formula in place of such a node; export writes the node in place of an
    activation that is the formula, for any values of attributes that stand in it themselves. One
    with numbers that are computed of attributes is written in ONNX's own operators.

    Args:
        domain: the node's domain, none of ONNX's.
        op_type: the node's operator.

    Returns:
        The decorator. The function takes a formula and the attributes, float or int, and gives a
        formula; it stays as it is.

    Raises:
        OptionError: the domain is ONNX's, or the function is no such function.
        ModelError: an operator of that name is known already.
    """
    from neat_onnx.operators.export.custom import operator as registered

    return registered(domain, op_type)
