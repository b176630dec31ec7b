"""Texts of neat-python, and how they are known."""

import re

CONFIGURATION = re.compile(r"^\s*\[(NEAT|Default\w+)\]", re.MULTILINE)
"""A section of a configuration."""
PRINTED_GENE = re.compile(
    r"\b(\w*(?:Node|Connection)Gene)\(key=(-?\d+|\((-?\d+), (-?\d+)\)), ([^()\n]*)\)"
)
"""A gene in what `print(winner)` writes."""
