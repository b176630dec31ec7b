"""Documents and bytes with a few random faults, the same for the same seed."""

import json
import random
from copy import deepcopy
from typing import Any

_ODD: tuple[Any, ...] = (
    None, True, -1, 0, 2**31, 2**70, 1e308, float("nan"), "", "tanh", [], {}, [[]], [1] * 70,
)  # fmt: skip


def damaged(document: Any, seed: int) -> Any:
    """A copy of a JSON document in which a few values are changed, removed, repeated or moved."""
    rng = random.Random(seed)
    copy = json.loads(json.dumps(document))
    for _ in range(rng.choice([1, 1, 2, 4])):
        _damage(copy, rng)
    return copy


def _damage(document: Any, rng: random.Random) -> None:
    parent, key, value = None, None, document
    while isinstance(value, dict | list) and value and (parent is None or rng.random() > 0.2):
        parent = value
        key = rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
        value = value[key]
    if parent is None:
        return
    choice = rng.random()
    if choice < 0.2:
        del parent[key]
    elif choice < 0.3 and isinstance(parent, list):
        parent.append(json.loads(json.dumps(value)))
    elif choice < 0.5 and isinstance(value, int | float):
        parent[key] = value * rng.choice([-1, 2, 1e30, 0]) + rng.choice([0, 1, -1])
    elif choice < 0.6 and isinstance(parent, list):
        other = rng.randrange(len(parent))
        parent[key], parent[other] = parent[other], parent[key]
    else:
        parent[key] = deepcopy(rng.choice(_ODD))


def damaged_bytes(data: bytes, seed: int) -> bytes:
    """A copy of `data` in which a few bytes are changed, removed or added."""
    rng = random.Random(seed)
    copy = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at = rng.randrange(len(copy))
        choice = rng.random()
        if choice < 0.6:
            copy[at] = rng.randrange(256)
        elif choice < 0.8 and len(copy) > 8:
            del copy[at : at + rng.randrange(1, 4)]
        else:
            copy[at:at] = rng.randbytes(rng.randrange(1, 9))
    return bytes(copy)
