"""The files that the page saves: what it offers for a network, and how each is written."""

import io
import zipfile
from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

import neat_onnx
from neat_onnx.drawing.svg import to_svg
from neat_onnx.errors import DocumentError, NetworkError
from neat_onnx.libraries.registry import writer_named
from neat_onnx.model import Model
from neat_onnx.network.network import Network
from neat_onnx.options import ExportOptions

_OWN = "neat-onnx"  # its file is a download of its own
_EVOLVES = ".pkl"  # beside the usual ending, where a library writes it
_MOMENT = (1980, 1, 1, 0, 0, 0)  # of files in an archive: the same network gives the same bytes


class Held(NamedTuple):
    """A network and its model.

    Attributes:
        net: the network.
        model: the model, perhaps a document of NeatapticTS's dialect.
        valid: the same as runtimes load it; the network was compared with it.
        options: the options of the export.
        checked: the samples and the seed of the comparison.
    """

    net: Network
    model: Model
    valid: Model
    options: ExportOptions
    checked: dict[str, int]


def _json(held: Held) -> str:
    return held.model.to_json(encoding=held.options.encoding)


def _protobuf(held: Held) -> str:
    return held.model.to_json(spelling="protobuf")


def _certificate(held: Held) -> str:
    options = held.options.model_dump(mode="json", exclude_defaults=True)
    return neat_onnx.certify(held.net, held.model, options=options).to_json()


def _code(language: Any) -> Callable[[Held], str]:
    return lambda held: neat_onnx.generate_code(held.net, language=language)


_FILES: dict[str, tuple[str, str, str, Callable[[Held], str | bytes]]] = {
    "onnx": ("ONNX", ".onnx", "for any runtime", lambda held: held.valid.to_bytes()),
    "json": ("JSON ONNX", ".onnx.json", "readable, every bit kept", _json),
    "network": (
        *("Network JSON", ".network.json", "the genome, to evolve on"),
        lambda held: held.net.to_json(),
    ),
    "svg": ("Picture", ".svg", "", lambda held: to_svg(held.net)),
    "form-c": ("C source", ".c", "no runtime", _code("c")),
    "form-csharp": ("C# class", ".cs", "no runtime", _code("csharp")),
    "form-gdscript": ("GDScript", ".gd", "no runtime", _code("gdscript")),
    "form-javascript": ("JavaScript module", ".js", "no runtime", _code("javascript")),
    "form-python": ("Python module", ".py", "no runtime", _code("python")),
    "form-protobuf": ("ONNX's official JSON", ".protobuf.json", "", _protobuf),
    "form-certificate": ("Certificate of the comparison", ".certificate.json", "", _certificate),
}
"""By kind: title, suffix, note, and what writes it."""


def choices(net: Network) -> dict[str, list[dict[str, str]]]:
    """List the files that are offered for a network, by section: kind, title, suffix and note.

    Of the libraries, the network's own comes first.
    """
    genomes = []
    for library in neat_onnx.libraries():
        if not library.writes or library.name == _OWN:
            continue
        title, kind = library.title or library.name, f"library-{library.name}"
        order = not library.wrote(net), title.lower()
        genomes.append((order, _choice(kind, title, library.suffixes[0])))
        if _EVOLVES in library.suffixes[1:]:
            also = _choice(f"{kind}-pkl", title, _EVOLVES, "pickle and configuration")
            genomes.append((order, also))
    listed = {kind: _choice(kind, *row) for kind, row in _FILES.items()}
    return {
        "Files": [listed[kind] for kind in ("onnx", "json", "network")],
        "Genome": [choice for _, choice in sorted(genomes, key=itemgetter(0))],
        "Programs and proofs": [listed[kind] for kind in _FILES if kind.startswith("form-")],
    }


def _choice(kind: str, title: str, suffix: str, note: str = "", *_: Any) -> dict[str, str]:
    return {"kind": kind, "title": title, "suffix": suffix, "note": note}


def refusals(net: Network) -> dict[str, str]:
    """Say why libraries cannot hold a network, by the kind of their files."""
    found = {}
    for choice in choices(net)["Genome"]:
        try:
            _of_library(net, choice["kind"], f"network{choice['suffix']}")
        except NetworkError as error:
            first, *_ = [*error.first_obstacles, error.message]
            found[choice["kind"]] = first.partition(". ")[0]
    return found


def written(held: Held, kind: str, name: str) -> tuple[str, bytes]:
    """Return the name and content of a file; several are packed into a ZIP archive.

    Raises:
        DocumentError: there is no file of that kind.
        NeatOnnxError: the network cannot be written so: every reason, with its neurons.
    """
    if kind.startswith("library-"):
        files = _of_library(held.net, kind, name)
        if len(files) == 1:
            return next(iter(files.items()))
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w") as archive:
            for each, data in files.items():
                archive.writestr(zipfile.ZipInfo(each, _MOMENT), data)
        return f"{name.rpartition('.')[0]}.zip", target.getvalue()
    if kind not in _FILES:
        raise DocumentError(f"there is no file of kind '{kind}'")
    content = _FILES[kind][-1](held)
    return name, content.encode() if isinstance(content, str) else content


def _of_library(net: Network, kind: str, name: str) -> dict[str, bytes]:
    library = kind.removeprefix("library-").removesuffix("-pkl")
    return writer_named(library).files(net, name)
