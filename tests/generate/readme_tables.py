"""The tables and programs of docs/ that are made from the code.

    python tests/generate/readme_tables.py            rewrites them
    python tests/generate/readme_tables.py --check    exits 1 if they are not in step

Each stands between `<!-- table: NAME -->` and `<!-- end -->`.
"""

import inspect
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path

import api_table
import mistake_table
import operator_table

import neat_onnx
from neat_onnx.libraries import neataptic
from neat_onnx.libraries.neat_python import functions as neat_python
from neat_onnx.libraries.neataptic_ts import document as neataptic_ts
from neat_onnx.libraries.neataptic_ts.onnx.write import DEFAULTS, IF_EMPTY, ONLY
from neat_onnx.model.budget import Limits
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.aggregations import AGGREGATIONS
from neat_onnx.options import ExportOptions
from neat_onnx.page.snippets import snippets
from neat_onnx.passes import CANONICAL
from neat_onnx.runtimes import RUNTIMES, way_to

ROOT = Path(__file__).absolute().parents[2]
WINNER = ROOT / "web" / "samples" / "neat-python.json"
MEMORY = ROOT / "tests" / "corpora" / "nts-net-lstm-2.json"
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
_TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def activations() -> str:
    libraries = (neataptic_ts, neataptic, neat_python)
    rows = [
        [
            f"`{name}`",
            f"`{activation.expression}`",
            *(_called(name, library.ACTIVATION_NAMES) for library in libraries),
        ]
        for name, activation in ACTIVATIONS.items()
        if activation.builtin
    ]
    return _table(["name", "formula", *(library.name for library in libraries)], rows)


def aggregations() -> str:
    rows = [
        [
            f"`{name}`",
            f"`{aggregation.expression(4).text('v')}`",
            f"{aggregation.empty:g}",
            _called(name, neat_python.AGGREGATION_NAMES),
        ]
        for name, aggregation in AGGREGATIONS.items()
        if aggregation.builtin
    ]
    return _table(["name", "formula for 4 inputs", "without inputs", "neat-python"], rows)


def mistakes() -> str:
    return _table(["mistake", "place", "message"], mistake_table.mistakes())


def install() -> str:
    """How to install; from the package index only where that has the project."""
    wheel = f"neat_onnx-{PROJECT['project']['version']}-py3-none-any.whl"
    rows = [
        ["a clone of this repository", "`pip install '.[onnxruntime]'`"],
        [
            f"the wheel that the page's site has in `wheels/`, `{wheel}`",
            f"`pip install {wheel} onnxruntime`",
        ],
    ]
    if PROJECT["tool"]["neat_onnx"]["on-index"]:
        rows = [
            ["the package index", "`pip install 'neat-onnx[onnxruntime]'`"],
            ["it, for one command", "`uvx neat-onnx --help`, or `pipx run neat-onnx --help`"],
            *rows,
        ]
    return _table(["from", "by"], rows)


def options() -> str:
    properties = neat_onnx.json_schema("options")["properties"]
    rows = [
        [f"`{name}`", _values(what), f"`{_shown(what['default'])}`", what["description"]]
        for name, what in properties.items()
        if name != "$schema"
    ]
    return _table(["option", "values", "default", ""], rows)


def dialect() -> str:
    """The options whose default, or whose range, is another one in the neataptic dialect."""
    defaults = {**DEFAULTS, **IF_EMPTY}
    rows = [
        [
            f"`{name}`",
            f"`{_shown(field.default)}`",
            f"`{_shown(defaults[name])}`" if name in defaults else f"only `{_shown(ONLY[name])}`",
        ]
        for name, field in ExportOptions.model_fields.items()
        if name in defaults or name in ONLY
    ]
    return _table(["option", "default", "in the neataptic dialect"], rows)


def sizes() -> str:
    """Bytes of binary files: in float32 without the genome, which int8 lacks, and in int8."""
    nets = {"`winner.json` of the page's samples": neat_onnx.load_network(WINNER)}
    for layers in ([3, 8, 2], [20, 50, 50, 4], [784, 128, 10]):
        nets[f"`Network.mlp({layers})`"] = neat_onnx.Network.mlp(layers, seed=0)
    rows = []
    for name, net in nets.items():
        models = [neat_onnx.export(net, include_metadata=False)]
        models.append(neat_onnx.export(net, quantize="weights"))
        whole, *others = (len(model.to_bytes()) for model in models)
        cells = [f"{size:,} ({size / whole:.2f})" for size in others]
        rows.append([name, f"{len(net.connections):,}", f"{whole:,}", *cells])
    return _table(["network", "connections", "float32, bytes", "int8, bytes"], rows)


def limits() -> str:
    text = inspect.getdoc(Limits) or ""
    said = dict(re.findall(r"^ +(\w+): (.*)\.$", text, re.MULTILINE))
    rows = [[f"`{each.name}`", f"{each.default:,}", said[each.name]] for each in fields(Limits)]
    return _table(["limit", "default", "counts"], rows)


def runtimes() -> str:
    ways = {name: way_to(name) for name in RUNTIMES}
    rows = [
        [f"`{name}`", f"`{way}`" if way.startswith("pip ") else way] for name, way in ways.items()
    ]
    return _table(["runtime", "installed by"], rows)


def operators() -> str:
    return _table(["file", "operators"], operator_table.rows())


def restrictions() -> str:
    return _table(["operators", "restrictions of import"], operator_table.restrictions())


def passes() -> str:
    rows = [
        [
            f"`{each.__name__}`",
            f"`{each.__module__.removeprefix('neat_onnx.').replace('.', '/')}.py`",
            (each.__doc__ or "").partition("\n")[0],
        ]
        for each in CANONICAL
    ]
    return _table(["pass", "file", "result"], rows)


def libraries() -> str:
    rows = [
        [
            f"`{library.name}`",
            library.keys,
            "yes" if library.reads else "–",
            ", ".join(f"`{suffix}`" for suffix in library.suffixes) if library.writes else "–",
            library.lost if library.writes else "–",
        ]
        for library in sorted(neat_onnx.libraries(), key=lambda library: library.name)
    ]
    return _table(["library", "its files", "read", "written as", "lost in writing"], rows)


@cache
def _programs(source: Path, file: str) -> dict[str, str]:
    """The programs that the page shows for the export of a network, by their titles."""
    document = json.loads(source.read_text(encoding="utf-8"))
    net = neat_onnx.load_network(document.get("source", document))
    return {each["title"]: each["text"] for each in snippets(neat_onnx.export(net), file)}


def _program(title: str, source: Path, file: str) -> Callable[[], str]:
    language = {"C#": "csharp"}.get(title, title.lower())
    return lambda: f"\n```{language}\n{_programs(source, file)[title]}```\n\n"


PROGRAMS = {
    f"{name}_{language}": _program(title, source, file)
    for name, source, file in (("run", WINNER, "winner.onnx"), ("step", MEMORY, "lstm.onnx"))
    for language, title in (("python", "Python"), ("javascript", "JavaScript"), ("csharp", "C#"))
}
TABLES = {
    **PROGRAMS,
    "python_functions": lambda: _table(["function", ""], api_table.functions()),
    "python_classes": lambda: _table(["class", ""], api_table.classes()),
    "python_errors": lambda: _table(["name", "is a", ""], api_table.errors()),
    "limits": limits,
    "runtimes": runtimes,
    "install": install,
    "libraries": libraries,
    "mistakes": mistakes,
    "activations": activations,
    "aggregations": aggregations,
    "options": options,
    "dialect": dialect,
    "sizes": sizes,
    "operators": operators,
    "restrictions": restrictions,
    "passes": passes,
}


def in_step(text: str) -> str:
    """`text` with every table as the code has it.

    Raises:
        KeyError: it asks for a table that there is not.
    """
    return _TABLE.sub(lambda found: found[1] + TABLES[found[2]]() + found[3], text)


def _called(ours: str, names: Mapping[str, str]) -> str:
    return ", ".join(f"`{theirs}`" for theirs, name in names.items() if name == ours) or "–"


def _values(what: Mapping[str, object]) -> str:
    if "const" in what:
        return f"`{what['const']}`"
    if "enum" in what:
        return ", ".join(f"`{value}`" for value in what["enum"])  # type: ignore[attr-defined]
    if "minimum" in what:
        return f"{what['minimum']} to {what['maximum']}"
    kinds = what.get("anyOf", [what])
    words = {"boolean": "true, false", "string": "text", "null": "null", "array": "a list",
             "object": "names by names"}  # fmt: skip
    return " or ".join(words[kind["type"]] for kind in kinds)  # type: ignore[attr-defined]


def _shown(default: object) -> str:
    if default in ([], {}):
        return str(default)
    words = {True: "true", False: "false", None: "null", "": '""'}
    return words.get(default, str(default))  # type: ignore[call-overload, no-any-return]


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def main() -> int:
    wrong = 0
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        fresh = in_step(text)
        wrong += fresh != text
        if "--check" not in sys.argv[1:]:
            path.write_text(fresh, encoding="utf-8")
    return 1 if wrong and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
