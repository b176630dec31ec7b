"""The versions of neat-python, as far as a genome computes differently in them."""

import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from neat_onnx.errors import OptionError
from neat_onnx.libraries.neat_python.numbers import number

Version = tuple[int, int]

FIRST_STABLE: Version = (1, 0)
"""From here on a node without inputs is evaluated; in 1.0 only what the inputs lead to."""
NEWER: Version = (1, 1)
EXPONENTIAL: Version = (2, 1)
"""From here on a ctrnn is integrated by the exponential Euler method."""
OLD: Version = (0, 92)
FIRST_INNOVATION = 1_000_000_000
"""Of written genes: beyond the numbers that a fresh innovation tracker gives to new ones."""


def parsed_version(text: object) -> Version | None:
    """Return the first two numbers of a version that a caller gives; None for None.

    Raises:
        OptionError: it is not a version.
    """
    if text is None:
        return None
    found = (
        re.fullmatch(r"(\d{1,9})\.(\d{1,9})[\w.+-]{0,40}", text, re.ASCII)
        if isinstance(text, str)
        else None
    )
    if not found:
        raise OptionError(
            f"{text!r:.40} is not a version of neat-python",
            where="version",
            hint="Give it as text, such as '1.0.0' or '2.1.0'",
        )
    return int(found[1]), int(found[2])


def installed() -> Version | None:
    """Return the version of the neat-python that is imported; None if none is."""
    module = sys.modules.get("neat")
    return None if module is None else parsed_version(getattr(module, "__version__", "0.92"))


def version_of_genes(
    nodes: Mapping[int, Any], genes: Iterable[Any], config: Version | None
) -> Version:
    """Return the version whose rules a genome is evaluated by.

    Args:
        nodes, genes: the node genes, and the connection genes.
        config: the version that its configuration tells, or None.
    """
    marks = _marks(genes)
    if any(marks):
        return NEWER if config in (None, OLD) else config
    if config is not None:
        return config
    return OLD if None in marks and (False in marks or not _is_timed(nodes)) else NEWER


def oldest_version(nodes: Mapping[int, Any], genes: Iterable[Any]) -> Version:
    """Return the oldest version, of those that compute differently, that a genome may be of.

    Args:
        nodes, genes: the node genes, and the connection genes.
    """
    marks = _marks(genes)
    if _is_timed(nodes) and (any(marks) or not marks):
        return NEWER
    return FIRST_STABLE if any(marks) else OLD


def _marks(genes: Iterable[Any]) -> list[bool | None]:
    """Whether each connection has a number of innovation, which came with 1.0.

    None where it has none, False for one that `write` gives to genes for any version.
    """
    numbers = [number(getattr(gene, "innovation", None)) for gene in genes]
    return [isinstance(n, int) and n < FIRST_INNOVATION if n is not None else None for n in numbers]


def _is_timed(nodes: Mapping[int, Any]) -> bool:
    """Whether the nodes have time constants, which came after 1.1."""
    return any(hasattr(node, "time_constant") for node in nodes.values())
