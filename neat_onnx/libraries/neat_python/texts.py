"""Texts of neat-python: a configuration, known by its sections, and `print(winner)`."""

import re
from typing import Any

from neat_onnx.errors import DocumentError
from neat_onnx.libraries.neat_python.pickled import Name, Record

_SECTION = re.compile(r"^\s*\[(NEAT|Default\w+)\]", re.MULTILINE)


def is_configuration(text: str) -> bool:
    """Return whether a text is a configuration of neat-python."""
    return _SECTION.search(text) is not None


_GENE = re.compile(
    r"\b(\w*(?:Node|Connection)Gene)\(key=(-?\d+|\((-?\d+), (-?\d+)\)), ([^()\n]*)\)"
)
_WORDS = {"True": True, "False": False, "None": None}


def is_printed(text: str) -> bool:
    """Return whether a text holds the genes of a printed genome."""
    return _GENE.search(text) is not None


def printed_genome(text: str) -> Record:
    """Return the genome in a text that holds one, among other lines."""
    parts: dict[bool, dict[Any, Record]] = {True: {}, False: {}}
    for name, key, source, target, said in _GENE.findall(text):
        gene = Record(Name("neat.genes", name), ())
        pairs = [item.partition("=")[::2] for item in said.split(", ")]
        gene.build({attribute: _value(value) for attribute, value in pairs})
        place: Any = (int(source), int(target)) if source else int(key)
        gene.build({"key": place})
        genes = parts[bool(source)]
        if place in genes:
            raise DocumentError(
                f"the text holds the gene of {key} twice",
                hint="Give the text of one genome, from Key: on",
            )
        genes[place] = gene
    genome = Record(Name("neat.genome", "DefaultGenome"), ())
    genome.build({"nodes": parts[False], "connections": parts[True]})
    return genome


def _value(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return text  # the name of a function
