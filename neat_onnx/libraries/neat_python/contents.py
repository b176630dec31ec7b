"""The genomes, networks and configuration that people keep in one file, at any depth.

The shallowest are taken: the winner in a dictionary beside its population, the genomes of a
population and not those that its species remember.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from neat_onnx.libraries.neat_python.numbers import number
from neat_onnx.libraries.neat_python.pickled import Name, Record

_NETWORKS = ("FeedForwardNetwork", "RecurrentNetwork", "CTRNN", "IZNN")
_PLAIN = (str, bytes, int, float, bool, type(None))
_GROUPS = ("population", "members")
"""Attributes that hold the genomes of a Population, and of a Species."""


@dataclass
class Contents:
    """The findings.

    Attributes:
        singles: genomes and networks that stand alone.
        groups: populations, each a list of ids (None where there are none) and genomes.
        config: the first configuration, or None.
    """

    singles: list[Any] = field(default_factory=list)
    groups: list[tuple[int | None, Any]] = field(default_factory=list)
    config: Any = None

    def by_id(self, sign: float) -> dict[int, Any]:
        """The members of the populations, or the single ones if there is none, the best first.

        Args:
            sign: -1 where the highest fitness is the best, else 1.
        """
        pairs = self.groups or [(None, one) for one in self.singles]
        ids: list[Any] = [getattr(one, "key", None) if key is None else key for key, one in pairs]
        if len(set(ids)) < len(ids) or not all(type(key) is int for key in ids):
            ids = list(range(len(pairs)))
        ranked = sorted(zip(ids, pairs, strict=True), key=lambda item: rank_of(item[1][1], sign))
        return {key: one for key, (_, one) in ranked}


def class_name(value: Any) -> str:
    """Return the name of an object's class, live or pickled, with its module."""
    if isinstance(value, Record):
        name = value.pickled_name
        return str(name) if isinstance(name, Name) else "pickle.Unknown"  # the result of a result
    return f"{type(value).__module__}.{type(value).__qualname__}"


def network_class(value: Any) -> str | None:
    """Return which network of neat-python an object is, live or pickled; None if none."""
    live = [class_name(value)] if isinstance(value, Record) else _bases(value)
    names = [name.rpartition(".")[2] for name in live if name.startswith("neat.")]
    return next((name for name in names if name in _NETWORKS), None)


def _bases(value: Any) -> list[str]:
    return [f"{kind.__module__}.{kind.__name__}" for kind in type(value).__mro__]


def is_genome(value: object) -> bool:
    """Return whether it is a genome: an object with dictionaries of genes."""
    parts = (getattr(value, "nodes", None), getattr(value, "connections", None))
    return all(isinstance(part, Mapping) for part in parts)


def rank_of(genome: Any, sign: float) -> float:
    """Return a genome's fitness times a sign, for sorting; infinity if it has none."""
    found = number(getattr(genome, "fitness", None))
    known = isinstance(found, int | float) and not math.isnan(found)
    return sign * float(found) if known else math.inf


def contents_of(root: Any) -> Contents:
    """Return the genomes, networks and the configuration in a value, in time linear in its size."""
    found, seen, level = Contents(), set[int](), [root]
    while level:
        singles: list[Any] = []
        groups: list[tuple[int | None, Any]] = []
        deeper: list[Any] = []
        for value in level:
            if type(value) in _PLAIN or id(value) in seen:
                continue
            seen.add(id(value))
            if is_genome(value) or network_class(value):
                singles.append(value)
            elif hasattr(getattr(value, "genome_config", value), "input_keys"):
                found.config = found.config or value
            elif group := _group(value):
                groups += group
            else:
                deeper.extend(_parts(value))
        found.singles = found.singles or singles
        found.groups = found.groups or groups
        level = deeper
    return found


def _group(value: Any) -> list[tuple[int | None, Any]]:
    """The members of a population with their ids; none if it is no population."""
    if isinstance(value, Mapping) and all(type(key) is int for key in value):
        pairs: list[tuple[int | None, Any]] = list(value.items())
    elif isinstance(value, list | tuple) and len(value) > 1:
        pairs = [(None, one) for one in value]
    else:
        return []
    return pairs if all(is_genome(one) or network_class(one) for _, one in pairs) else []


def _parts(value: Any) -> Iterable[Any]:
    """The parts of an object or a container, as far as a network may be in them."""
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, list | tuple):
        is_checkpoint = len(value) in (5, 6) and isinstance(value[2], Mapping) and _group(value[2])
        return value[1:3] if is_checkpoint else value
    is_neat = any(name.startswith("neat.") for name in _bases(value))
    if not isinstance(value, Record) and not (is_neat and hasattr(value, "__dict__")):
        return ()
    held = vars(value)
    for name in _GROUPS:
        if _group(held.get(name)):
            return [held[name], held.get("config")]
    best = held.get("most_fit_genomes")  # of a StatisticsReporter
    if isinstance(best, list) and best and all(map(is_genome, best)):
        return [min(best, key=lambda one: rank_of(one, -1.0))]
    more = (value.pickled_arguments, value.pickled_state) if isinstance(value, Record) else ()
    return [*held.values(), *more, *(getattr(value, "pickled_items", None) or ())]
