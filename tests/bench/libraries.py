"""The table of docs/written.md: networks written for each library, in the library's own code.

    make libraries

Every network of the corpora, and every recorded one of tests/libraries, is written for every
library. The library loads the document and computes; its outputs are compared with the network's.
Then the document is read again and compared with the network.
"""

import json
import pickle
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))
sys.path.insert(0, str(Path(__file__).absolute().parents[1] / "libraries" / "neat_python"))

import fann_peer
import neat
import numpy as np
import timed
import trips
import wann_peer
from cases import CORPORA, cases
from judging import JAVASCRIPT, Task, computed
from transcribed import GoNEAT, SharpNEAT, tensorneat

import neat_onnx
from neat_onnx import NeatOnnxError, NeatOnnxWarning, Network

TESTS = Path(__file__).absolute().parents[1]
DOCS = TESTS.parent / "docs" / "written.md"
BOUND = 1e-12
FLOAT32 = 2.0**-20
KINDS = neat.DefaultReproduction, neat.DefaultSpeciesSet, neat.DefaultStagnation
HEAD = """\
# Networks written for libraries

`make libraries` writes every network of the corpora and every recorded network of the tests for
every library ({networks} networks; {origins}), lets the library's own code load and run it, and
reads it again. Versions: {versions}. A ctrnn of neat-python 2.1 is written, read and compared, but
not run: 2.1 is not at hand.

- **equal**: the library computes the network's outputs, |difference| ≤ 1e-12 · max(1, |output|)
  (brain.js, which keeps float32: 2^-20), plus what rounding of the weights to doubles does to them.
- **refused**: the library cannot say the network; every reason is told with its neurons.
- **genome**: read again, the document is the same genome, gene by gene. **function**: it computes
  the same, but a field that the library does not have is gone, or neurons were added.

| library | judge | written | equal | largest error | refused | genome | function |
|---|---|---|---|---|---|---|---|
"""

THROUGH_ONNX = """
## Through ONNX and back

A document of a library, exported, imported and written for the same library: **kept** counts those
with the same ids, in the same order where order counts, the same weights and biases to the last
bit, the same functions, gates and disabled genes. NeatapticTS's node types `variant` and
`constant`, which it evaluates as `hidden`, come back as that. In two networks one flag `enabled` is
another: NeatapticTS ignores it on self-connections, and a connection that an input gates never acts
there.

| library | through | documents | kept |
|---|---|---|---|"""
TRIPS = {
    "JSON ONNX": trips.through_json,
    "float32 .onnx with embed_network": trips.through_float32,
}


class Source(NamedTuple):
    """A network with rows to run it on.

    Attributes:
        origin: the library that wrote it.
        net: the network.
        inputs, sequence: rows, steps of a sequence or samples.
        sensitivity: what rounding does to the outputs of each row.
        advance: for a ctrnn the advances of a row in time steps, for an iznn their number and the
            time step; None for others.
    """

    name: str
    origin: str
    net: Network
    inputs: Any
    sequence: bool
    sensitivity: Any
    advance: tuple[float, ...] | None = None

    @property
    def outputs(self) -> Any:
        """The outputs of the network."""
        with np.errstate(all="ignore"):
            return self.net.run(self.inputs) if self.sequence else self.net.activate(self.inputs)


def sources() -> list[Source]:
    """Every network, once."""
    found = {json.dumps(net.net.to_json()): net for net in [*_corpora(), *_recorded()]}
    return list(found.values())


def _corpora() -> Iterator[Source]:
    for case in cases("nts", "nap", "np"):
        origin = {"nts": "NeatapticTS", "nap": "neataptic"}.get(case.name[:3], "neat-python")
        if case.kind == "network-json":
            call, rounding = case.document.get("advance"), 8.0 * case.sens64
            net = timed.read(case) if call else case.network()
            yield Source(
                case.name, origin, net, case.inputs, case.sequence, rounding, _advance(call)
            )
            continue
        net = timed.quietly(case.document["source_network"], None, None)
        inputs = np.random.default_rng(3).normal(size=(8, len(net.input_neurons)))
        yield Source(case.name, origin, net, inputs, True, 0.0)


def _advance(call: Any) -> tuple[float, ...] | None:
    if call and "time_step" in call:
        return (float(f"{call['advance_time'] / call['time_step']:.12g}"),)
    return (call.get("advances_per_row", 1), call["dt_msec"]) if call else None


def _recorded() -> Iterator[Source]:
    for path in sorted((TESTS / "libraries").glob("*/*.json")):
        document = json.loads(path.read_text("utf-8"))
        if path.parent.name in ("neat_python", "onnx"):
            continue
        options = document.get("options", {})
        source = document["source"]
        source = source.encode() if isinstance(source, str) else source
        net = neat_onnx.load_network(source, **options)
        inputs = np.array(document["inputs"], np.float64)
        origin = path.parent.name.replace("_", ".")
        yield Source(path.stem, origin, net, inputs, document["sequence"], 0.0)


def by_neat_python(tasks: list[tuple[Source, Any]]) -> list[Any]:
    """The outputs in neat-python of networks written as winner.pkl with their configuration."""
    return [_in_neat_python(source) for source, _ in tasks]


def _in_neat_python(source: Source) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "winner.pkl")
        source.net.save(path, library="neat-python")
        genome = pickle.loads(path.read_bytes())
        kind = neat.iznn.IZGenome if source.name.startswith("np-iznn") else neat.DefaultGenome
        config = neat.Config(kind, *KINDS, str(path.with_suffix(".ini")))
    if source.name.startswith("np-ctrnn-v21"):
        return "neat-python 2.1 is not at hand"
    try:
        return (_played if source.advance is None else _advanced)(genome, config, source)
    except OverflowError as error:
        return f"OverflowError: {error}"


def _advanced(genome: Any, config: Any, source: Source) -> Any:
    assert source.advance is not None
    if len(source.advance) == 1:
        network = neat.ctrnn.CTRNN.create(genome, config)
        rows = source.inputs.tolist()
        return np.array([network.advance(row, *source.advance, 1.0) for row in rows], np.float64)
    count, step = source.advance
    network, outputs = neat.iznn.IZNN.create(genome, config), []
    network.reset()
    for row in source.inputs.tolist():
        network.set_inputs(row)
        outputs.append([network.advance(step) for _ in range(int(count))][-1])
    return np.array(outputs, np.float64)


def _played(genome: Any, config: Any, source: Source) -> Any:
    static = config.genome_config.feed_forward
    kind = neat.nn.FeedForwardNetwork if static else neat.nn.RecurrentNetwork
    network = kind.create(genome, config)
    outputs = []
    for row in source.inputs.tolist():
        if not (static or source.sequence):
            network.reset()
        outputs.append(network.activate(row))
    return np.array(outputs, np.float64)


def by_javascript(library: str) -> Callable[[list[tuple[Source, Any]]], list[Any]]:
    """The judge of a library of JavaScript."""

    def judge(tasks: list[tuple[Source, Any]]) -> list[Any]:
        return computed(library, [Task(doc, s.inputs, s.sequence) for s, doc in tasks])

    return judge


def by_fann(tasks: list[tuple[Source, Any]]) -> list[Any]:
    """The outputs of `fann_run`, in doubles."""
    return [fann_peer.computed(document, source.inputs) for source, document in tasks]


def by_wann(tasks: list[tuple[Source, Any]]) -> list[Any]:
    """The outputs of prettyNEAT's `act`."""
    return [
        wann_peer.computed(document, source.inputs, len(source.net.output_neurons))
        for source, document in tasks
    ]


def by_tensorneat(tasks: list[tuple[Source, Any]]) -> list[Any]:
    """The outputs by the transcription of TensorNEAT's `forward`."""
    found = []
    for source, document in tasks:
        count = len(source.net.output_neurons)
        found.append(_rows(source, lambda row, d=document, n=count: tensorneat(d, row, n)))
    return found


def by_goneat(tasks: list[tuple[Source, Any]]) -> list[Any]:
    """The outputs by the transcription of goNEAT's `ForwardSteps`, as many as there are nodes."""
    found = []
    for source, document in tasks:
        peer = GoNEAT.of(document)
        found.append(_rows(source, lambda row, p=peer: p.forward(row, len(p.nodes))))
    return found


def by_sharpneat(tasks: list[tuple[Source, Any]]) -> list[Any]:
    """The outputs by the transcription of SharpNEAT's evaluation."""
    return [_in_sharpneat(source, document) for source, document in tasks]


def _in_sharpneat(source: Source, document: str) -> Any:
    peer = SharpNEAT(document)

    def played(row: list[float]) -> list[float]:
        if not source.sequence:
            peer.value.update(dict.fromkeys(peer.value, 0.0))
        return peer.activate(row)

    return _rows(source, played)


def _rows(source: Source, activate: Callable[[list[float]], list[float]]) -> Any:
    with np.errstate(all="ignore"):
        return np.array([activate(row) for row in source.inputs.tolist()], np.float64)


JUDGES = {name: (by_javascript(name), "its own code") for name in JAVASCRIPT} | {
    "neataptic-ts": (by_javascript("neataptic-ts"), "its algorithm, written out"),
    "neat-python": (by_neat_python, "its own code"),
    "goneat": (by_goneat, "its algorithm, written out"),
    "sharpneat": (by_sharpneat, "its algorithm, written out"),
    "tensorneat": (by_tensorneat, "its algorithm, written out"),
    "wann": (by_wann, "its own code"),
}
if fann_peer.library():
    JUDGES["fann"] = (by_fann, "its own code")
else:
    print("networks written for FANN are not run: install Debian's libfann2")


def row_of(library: str, nets: list[Source]) -> str:
    """A line of the table."""
    counts: Counter[str] = Counter()
    tasks, worst = [], 0.0
    for source in nets:
        try:
            document = source.net.to_library(library)
        except NeatOnnxError as error:
            if "(neuron " not in str(error):
                raise AssertionError(f"{source.name}: {error}") from error
            counts["refused"] += 1
            continue
        counts["written"] += 1
        tasks.append((source, document))
        counts[_read_again(library, source, document)] += 1
    judge, how = JUDGES.get(library, (None, "–"))
    found = judge(tasks) if judge else []
    for (source, _), outputs in zip(tasks, found, strict=bool(judge)):
        error = _error(library, source, outputs)
        if error is None:
            print(library, source.name, outputs if isinstance(outputs, str) else "differs")
            continue
        counts["equal"] += 1
        worst = max(worst, error)
    equal, largest = (counts["equal"], f"{worst:.1e}") if judge else ("–", "–")
    return (
        f"| {library} | {how} | {counts['written']} | {equal} | {largest} | {counts['refused']} | "
        f"{counts['genome']} | {counts['function']} |"
    )


def _error(library: str, source: Source, outputs: Any) -> float | None:
    """The largest error of outputs beyond rounding; None where they are others."""
    want = source.outputs
    if isinstance(outputs, str) or outputs.shape != want.shape:
        return None
    finite = np.isfinite(want)
    if not np.array_equal(outputs[~finite], want[~finite], equal_nan=True):
        return None
    scale = np.maximum(1.0, np.abs(np.where(finite, want, 0.0)))
    rounding = np.broadcast_to(source.sensitivity, want.shape)
    errors = ((np.abs(outputs - want) - rounding) / scale)[finite]
    error = float(np.max(errors, initial=0.0))
    return error if error <= (FLOAT32 if library == "brain.js" else BOUND) else None


def _read_again(library: str, source: Source, document: Any) -> str:
    """Whether a document, read again, is the same genome, computes the same, or neither."""
    net = source.net
    counts = {"inputs": len(net.input_neurons), "outputs": len(net.output_neurons)}
    options: dict[str, Any] = counts if library in ("wann", "tensorneat") else {}
    if library == "neat-python" and source.advance:
        count, step = (*source.advance, None)[:2]
        options = {"time_step": step or 1.0, "advance_time": count * (step or 1.0)}
    if isinstance(document, str):
        document = document.encode()
    back = neat_onnx.load_network(document, **options)
    if back == net:
        return "genome"
    again = source._replace(net=back)
    same = _error(library, source, again.outputs) is not None
    if not same:
        print(library, source.name, "comes back as another function")
    return "function" if same else "other"


def through_onnx() -> Iterator[str]:
    """Lines of the table of genes on the way through ONNX and back."""
    groups = {
        "neataptic-ts": (("nts-net", "nts-onnx"), trips.listed),
        "neat-python": (("np-ff", "np-rec", "np-atom"), trips.keyed),
    }
    for library, (names, genes) in groups.items():
        documents = trips.documents(*names)
        for form, trip in TRIPS.items():
            kept = sum(
                genes(trip(neat_onnx.load_network(document)).to_library(library)) == genes(document)
                for document in documents.values()
            )
            yield f"| {library} | {form} | {len(documents)} | {kept} |"


def main() -> None:
    """Write the document."""
    warnings.simplefilter("ignore", NeatOnnxWarning)
    nets = sources()
    origins = Counter(source.origin for source in nets)
    lines = [
        row_of(library.name, nets)
        for library in neat_onnx.libraries()
        if library.reads and library.writes
    ]
    head = HEAD.format(
        networks=len(nets),
        origins=", ".join(f"{count} of {origin}" for origin, count in origins.items()),
        versions=f"neat-python {neat.__version__}, {_versions()}, libfann 2.2.0, prettyNEAT 0.0.2",
    )
    lines += [THROUGH_ONNX, *through_onnx()]
    DOCS.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


def _versions() -> str:
    folder = TESTS.parent / ".cache" / "libraries"
    lock = json.loads((folder / "package-lock.json").read_text("utf-8"))
    wanted = lock["packages"][""]["dependencies"]
    return ", ".join(f"{name} {version}" for name, version in wanted.items())


if __name__ == "__main__":
    assert CORPORA.exists()
    main()
