"""Sources to networks: the content of a source, the library whose it is, and its reader."""

import os
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Literal

from neat_onnx.errors import DocumentError, OptionError
from neat_onnx.files import parse_json, read_bytes, sniff, unpacked
from neat_onnx.libraries.library import BEST, Library, ReadOptions, no_genome
from neat_onnx.libraries.registry import libraries
from neat_onnx.network.network import Network
from neat_onnx.progress import Shown, showing

_HEAD = 256  # characters by which the kind of a text is known
_ONNX_HINT = (
    "To turn a model into a network use import_model, or `neat-onnx import`. Where both are asked "
    "for, the network comes first"
)
_JAVASCRIPT = re.compile(
    r"\s*(?:(?:(?:var|let|const)\s+)?[\w$.]+\s*=|export\s+default\b)\s*([{\[].*[}\]])\s*;?\s*",
    re.DOTALL,
)
"""A script that gives a JSON value to a variable or exports it."""
_NO_NETWORKS = (
    (r"version https://git-lfs", "a pointer of Git LFS, not the file", "Fetch it: git lfs pull"),
    (r"\s*<(?:!doctype\s+)?html", "an HTML page", "Download the raw file that the page shows"),
    (r"\s*\[object ", "the text of a JavaScript object", "Write JSON.stringify(network.toJSON())"),
)
"""The beginnings of files that people take for networks: what they are, and what to do."""
_TIMED = "ctrnn and iznn networks"
_USES = {"genome": "populations", "time_step": _TIMED, "advance_time": _TIMED}


def load_network(
    source: object,
    config: object = None,
    genome: int | Literal["best"] | None = None,
    *,
    time_step: float | None = None,
    advance_time: float | None = None,
    initial_gain: float | None = None,
    inputs: int | None = None,
    outputs: int | None = None,
    cycles: int | None = None,
    activations: int | None = None,
    version: str | None = None,
    max_opcodes: int | None = None,
) -> Network:
    """Return the network in `source`, of any library.

    Args:
        source: a path, JSON text, bytes, a document, a live network or genome, or a Network.
        config: the configuration of a genome of neat-python: a path, INI text or a live Config.
        genome: the id of a network of a population; "best" for the fittest.
        time_step: of neat-python's ctrnn (seconds; 0 for a recurrent network) and iznn (ms).
        advance_time: the time by which one step of `run` advances them; a time_step by default.
        initial_gain: of gated connections before their gater is computed; 1 without `clear()`.
        inputs: how many: of WANN, TensorNEAT, or a genome of neat-python without config.
        outputs: the same.
        cycles: how often a step updates a cyclic genome, where its file does not tell, or a
            recurrent network of neat-python, as pureples does.
        activations: another name of `cycles`, as pureples has it.
        version: the neat-python of a genome or a pickled ctrnn that does not tell it, as "2.1.0".
        max_opcodes: how many opcodes a pickle may have; by its size if None.

    Returns:
        The network, with the ids of its neurons as the library has them.

    Raises:
        DocumentError: it cannot be read, or no library recognises it.
        NetworkError: it is not a network; says where.
        OptionError: an option that the source has no use for, or one that it needs is missing.
    """
    times = cycles if activations is None else activations
    facts = (time_step, advance_time, initial_gain, inputs, outputs, times, version, max_opcodes)
    return _read(source, ReadOptions(config, genome, *facts))


def load_networks(
    source: object,
    config: object = None,
    *,
    time_step: float | None = None,
    advance_time: float | None = None,
    initial_gain: float | None = None,
    inputs: int | None = None,
    outputs: int | None = None,
    cycles: int | None = None,
    activations: int | None = None,
    version: str | None = None,
    max_opcodes: int | None = None,
    progress: bool | Shown = False,
) -> dict[int, Network]:
    """Return all networks of a population by their ids, the best first.

    Args:
        source: as for `load_network`; a single network has the id 0.
        config: as there; a checkpoint holds its own.
        time_step: as there.
        advance_time: as there.
        initial_gain: as there.
        inputs: as there.
        outputs: as there.
        cycles: as there.
        activations: as there.
        version: as there.
        max_opcodes: as there.
        progress: True counts the networks in a line of standard error; a function such as
            `tqdm.tqdm` is given an iterable and its `total`, and passes it on.

    Returns:
        The networks by id, by descending fitness where the source holds it.

    Raises:
        DocumentError: as `load_network` does.
        NetworkError: one of them is not a network; says where.
        OptionError: as `load_network` does.
    """
    times = cycles if activations is None else activations
    facts = (time_step, advance_time, initial_gain, inputs, outputs, times, version, max_opcodes)
    with showing(progress):
        return _read_all(source, ReadOptions(config, None, *facts))


def content_of(source: object) -> object:
    """Return the content of a source, as `Library` describes it."""
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n")[:1] in ("{", "["):
        if source.isascii() and sniff(source[:_HEAD].encode()) == "json":
            return parse_json(source)  # without copies of what may be many megabytes
        return _decoded(source.encode(errors="surrogatepass"))
    if isinstance(source, str | os.PathLike):
        return _decoded(read_bytes(source))
    return _decoded(bytes(source)) if isinstance(source, bytes | bytearray | memoryview) else source


def _decoded(data: bytes) -> object:
    """The content of a file, unpacked where it is compressed."""
    data = unpacked(data)
    kind = sniff(data)
    if kind == "json":
        _refuse_others(data[:_HEAD].decode(errors="replace"))
        return parse_json(data)
    if kind in ("onnx", "onnx text"):
        raise DocumentError("this looks like an ONNX model, not a network", hint=_ONNX_HINT)
    if kind != "text":
        return data
    text = data.decode("utf-8-sig")
    script = _JAVASCRIPT.fullmatch(text)
    return _in_script(script[1]) if script else text


def _in_script(text: str) -> object:
    """The JSON in a script; keys without quotes are none."""
    try:
        return parse_json(text)
    except DocumentError as error:
        hint = "Write what JSON.stringify(network.toJSON()) returns"
        raise DocumentError(f"JavaScript, and not JSON: {error.message}", hint=hint) from error


def _library_of(content: object) -> Library:
    for library in libraries():
        if library.reads and library.recognises(content):
            return library
    if isinstance(content, Mapping) and "graph" in content:
        raise DocumentError("this is a JSON ONNX model, not a network", hint=_ONNX_HINT)
    if hasattr(content, "graph"):
        raise DocumentError(f"a {type(content).__name__} is not a network", hint=_ONNX_HINT)
    if not isinstance(content, Mapping | list | str | bytes):
        way = "Give a path, JSON text, bytes, a parsed document or a live neat-python network"
        raise DocumentError(f"a {type(content).__name__} is not a network", hint=way)
    what = "not a network this package knows"
    if isinstance(content, str | bytes):
        _explain(content)
        what += f": text that begins with {content[:40]!r}"
    known = "; ".join(f"{one.keys} ({one.title or one.name})" for one in libraries())
    raise DocumentError(what, hint=f"Expected keys: {known}")


def _explain(content: str | bytes) -> None:
    """Refuse text or bytes of which it can be said why they are no network."""
    _refuse_others(content if isinstance(content, str) else "")
    if not content.strip():
        raise DocumentError("the file is empty", hint="Write the network again")
    is_tar = content[257:262] in ("ustar", b"ustar")
    if is_tar or (isinstance(content, bytes) and sniff(content) == "zip"):
        what = "a tar archive" if is_tar else "a zip archive"
        raise DocumentError(f"this is {what}", hint="Unpack it, and give the network in it")
    if isinstance(content, bytes):
        parse_json(content)


def _refuse_others(text: str) -> None:
    """Refuse the text of a file that stands where the network should be."""
    for begin, what, hint in _NO_NETWORKS:
        if re.match(begin, text, re.IGNORECASE):
            raise DocumentError(f"this is {what}", hint=hint)


def refuse_unused(options: ReadOptions, used: frozenset[str]) -> None:
    """Refuse options that are given and not among those that the source has a use for."""
    for field in fields(options):
        if field.name not in used and getattr(options, field.name) is not None:
            known = [one.title or one.name for one in libraries() if field.name in one.options]
            what = f"{_USES.get(field.name, 'files')} of {', '.join(known)}"
            raise OptionError(f"{field.name} is for {what}", where=field.name)


def _read(source: object, options: ReadOptions) -> Network:
    """The network that `load_network` returns."""
    if options.genome is not None:
        return picked(_read_all(source, options), options.genome)
    content = content_of(source)
    library = _library_of(content)
    refuse_unused(options, library.options)
    return library.read(content, options)


def _read_all(source: object, options: ReadOptions) -> dict[int, Network]:
    """The networks that `load_networks` returns; perhaps only the one that is asked for."""
    content = content_of(source)
    library = _library_of(content)
    refuse_unused(options, library.options)
    return dict(library.read_all(content, options))


def picked(found: Mapping[int, Network], genome: int | str) -> Network:
    """Return the network of that id; of "best", the first."""
    if genome == BEST and found:
        return next(iter(found.values()))
    if not isinstance(genome, int) or genome not in found:
        raise no_genome(genome, found)
    return found[genome]
