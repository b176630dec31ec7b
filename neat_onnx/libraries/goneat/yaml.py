"""goNEAT's genomes as YAML: the part of YAML that these files use.

Mappings and lists, by indentation or in one line (`{ id: 1, type: BIAS }`, `[0.1, 0.0]`), of plain
words and numbers, and comments. Anything else is refused, never guessed.
"""

import re
from typing import Any, NamedTuple, NoReturn

from neat_onnx.errors import NetworkError
from neat_onnx.libraries.genome_graph import Edge
from neat_onnx.libraries.goneat.genome import TYPES, Genome, NodeLine, integer
from neat_onnx.libraries.names import finite_number

_KEY = re.compile(r"([A-Za-z_][\w-]*)\s*:(?:\s+(.*))?$")
_TOKEN = re.compile(r"\s*([{}\[\],:]|[^\s{}\[\],:]+)")
_COMMENT = re.compile(r"(^|\s)#.*$")


class _Line(NamedTuple):
    indent: int
    text: str
    where: str


def yaml_genome(content: str) -> Genome:
    """Return the genome of a YAML file.

    Raises:
        NetworkError: it is not YAML of the kind that goNEAT writes, or not a genome.
    """
    document = _Parser(_lines(content)).document()
    genome = document.get("genome") if isinstance(document, dict) else None
    if not isinstance(genome, dict):
        raise NetworkError("expected a mapping", where="genome")
    if genome.get("modules"):
        raise NetworkError(
            "modules cannot be read", where="genome.modules", hint="Only nodes and genes can"
        )
    return Genome(
        integer(_text(genome, "id", "genome"), "genome.id"),
        [_node(entry, where) for entry, where in _entries(genome, "nodes")],
        [_gene(entry, where) for entry, where in _entries(genome, "genes")],
    )


def _entries(genome: dict[str, Any], key: str) -> list[tuple[dict[str, Any], str]]:
    entries = genome.get(key)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise NetworkError("expected a list of mappings", where=f"genome.{key}")
    return [(entry, f"genome.{key}[{at}]") for at, entry in enumerate(entries)]


def _node(entry: dict[str, Any], where: str) -> NodeLine:
    kind = _text(entry, "type", where)
    if kind not in TYPES:
        raise NetworkError(f"type is '{kind}', expected {', '.join(TYPES)}", where=where)
    return NodeLine(
        integer(_text(entry, "id", where), where), kind, _text(entry, "activation", where), where
    )


def _gene(entry: dict[str, Any], where: str) -> Edge:
    enabled = _text(entry, "enabled", where)
    if enabled not in ("true", "false"):
        raise NetworkError(f"enabled is '{enabled}', expected true or false", where=where)
    source, target = (integer(_text(entry, key, where), where) for key in ("src_id", "tgt_id"))
    return Edge(
        source,
        target,
        finite_number(_text(entry, "weight", where), "weight", where),
        enabled == "true",
    )


def _text(entry: dict[str, Any], key: str, where: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str):
        raise NetworkError(f"'{key}' is missing, or no word or number", where=where)
    return value


def _lines(content: str) -> list[_Line]:
    lines = []
    for at, raw in enumerate(content.removeprefix("\ufeff").splitlines(), 1):
        text = _COMMENT.sub("", raw).rstrip()
        if text.strip() and text.strip() != "---":
            indent = len(text) - len(text.lstrip(" "))
            lines.append(_Line(indent, text.strip(), f"line {at}"))
    return lines


class _Parser:
    """Reads lines from the first to the last."""

    def __init__(self, lines: list[_Line]) -> None:
        self._lines, self._at = lines, 0

    def document(self) -> Any:
        """The value of all lines."""
        value = self._block(0) if self._lines else None
        if self._at < len(self._lines):
            self._refuse()
        return value

    def _block(self, indent: int) -> Any:
        """The value of the lines that are indented so far."""
        line = self._lines[self._at]
        if line.indent < indent or line.indent > 64:
            self._refuse()
        return self._list(line.indent) if self._is_item(line) else self._mapping(line.indent)

    def _is_item(self, line: _Line) -> bool:
        return line.text == "-" or line.text.startswith("- ")

    def _list(self, indent: int) -> list[Any]:
        entries = []
        while self._is_at(indent) and self._is_item(self._lines[self._at]):
            line = self._lines[self._at]
            rest = line.text[1:].lstrip()
            if _KEY.match(rest) and not rest.startswith("{"):
                inner = indent + len(line.text) - len(rest)
                self._lines[self._at] = _Line(inner, rest, line.where)
                entries.append(self._mapping(inner))
            else:
                self._at += 1
                entries.append(self._value(rest, line) if rest else self._block(indent + 1))
        return entries

    def _mapping(self, indent: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self._is_at(indent) and not self._is_item(self._lines[self._at]):
            line = self._lines[self._at]
            match = _KEY.match(line.text)
            if not match or match[1] in found:
                self._refuse()
            self._at += 1
            found[match[1]] = self._value(match[2], line) if match[2] else self._under(indent)
        return found

    def _under(self, indent: int) -> Any:
        """The value below a key: deeper lines, or a list as deep as the key."""
        if self._at == len(self._lines):
            return None
        line = self._lines[self._at]
        if line.indent > indent or (line.indent == indent and self._is_item(line)):
            return self._block(line.indent)
        return None

    def _is_at(self, indent: int) -> bool:
        return self._at < len(self._lines) and self._lines[self._at].indent == indent

    def _value(self, text: str, line: _Line) -> Any:
        """The value that stands in one line."""
        tokens = _TOKEN.findall(text)
        value, rest = _flow(tokens)
        if rest or value is None:
            raise NetworkError(f"this YAML is not understood: '{text[:60]}'", where=line.where)
        return value

    def _refuse(self) -> NoReturn:
        line = self._lines[min(self._at, len(self._lines) - 1)]
        raise NetworkError(f"this YAML is not understood: '{line.text[:60]}'", where=line.where)


def _flow(tokens: list[str]) -> tuple[Any, list[str]]:
    """The first value of tokens, None if there is none, and the tokens after it."""
    head, *rest = tokens or [""]
    if head == "[":
        words = [token for token in rest[: rest.index("]")] if token != ","] if "]" in rest else []
        plain = "]" in rest and not set(words) & set("{}[]:")
        return (words, rest[rest.index("]") + 1 :]) if plain else (None, [])
    if head != "{":
        return (head, rest) if head and head not in "}],:" else (None, [])
    found: dict[str, Any] = {}
    while rest and rest[0] != "}":
        if len(rest) < 3 or rest[1] != ":" or rest[2] == "{":
            return None, []
        found[rest[0]], rest = _flow(rest[2:])
        rest = rest[1:] if rest[:1] == [","] else rest
    return (found, rest[1:]) if rest else (None, [])
