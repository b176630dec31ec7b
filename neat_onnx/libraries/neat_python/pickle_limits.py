"""Limits of a pickle, checked opcode by opcode before anything is loaded.

Loading a small pickle can take any amount of memory or time: it may announce a memo of 4 billion
entries, or tuples of tuples whose hash takes for ever. Each stack entry is therefore followed by
its nesting and by its size as a tree, in which a shared part counts wherever it occurs.
"""

import pickletools
from typing import NamedTuple

from neat_onnx.errors import DocumentError

MAX_OPCODES = 3_000_000
MAX_TREE = 20_000_000
MAX_NESTING = 400
_GROWING = {"APPEND", "APPENDS", "SETITEM", "SETITEMS", "ADDITEMS", "BUILD"}


class _Size(NamedTuple):
    """The size of a value as a tree, and its nesting."""

    tree: int
    nesting: int


_ATOM = _Size(1, 0)
_MARK = _Size(0, -1)


def check_limits(data: bytes) -> None:
    """Refuse a pickle that is broken, or whose values take too much memory or time.

    Raises:
        DocumentError: says which limit it exceeds.
    """
    stack: list[_Size] = []
    memo: dict[int, _Size] = {}
    try:
        for count, (opcode, argument, _) in enumerate(pickletools.genops(data)):
            if count > MAX_OPCODES:
                raise DocumentError(f"the pickle has more than {MAX_OPCODES} values")
            _follow(opcode, argument, stack, memo, count)
    except (ValueError, IndexError, KeyError, OverflowError, UnicodeDecodeError) as error:
        raise DocumentError(
            f"not a whole pickle: {error}",
            hint="Was it cut off? Write or copy it again",
        ) from error


def _follow(
    opcode: pickletools.OpcodeInfo,
    argument: object,
    stack: list[_Size],
    memo: dict[int, _Size],
    count: int,
) -> None:
    """Apply the effect of an opcode to the sizes of the values."""
    name = opcode.name
    if name in ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"):
        key = len(memo) if name == "MEMOIZE" else _index(argument)
        if key > 2 * count + 100:
            raise DocumentError(f"the pickle announces a memo of {key} values")
        memo[key] = stack[-1]
    elif name in ("GET", "BINGET", "LONG_BINGET"):
        stack.append(memo[_index(argument)])
    elif name == "MARK":
        stack.append(_MARK)
    elif name == "DUP":
        stack.append(stack[-1])
    elif opcode.stack_before or opcode.stack_after:
        _combine(opcode, stack)


def _index(argument: object) -> int:
    if not isinstance(argument, int):
        raise ValueError("a memo index is no number")
    return argument


def _combine(opcode: pickletools.OpcodeInfo, stack: list[_Size]) -> None:
    """Replace the entries that the opcode takes by the one that it makes."""
    taken: list[_Size] = []
    for kind in reversed(opcode.stack_before):
        if kind is pickletools.stackslice:
            while stack[-1] is not _MARK:
                taken.append(stack.pop())
        elif kind is pickletools.markobject:
            stack.pop()
        else:
            taken.append(stack.pop())
    if not opcode.stack_after:
        return
    taken.reverse()
    tree = 1 + sum(size.tree for size in taken)
    inner = taken[1:] if opcode.name in _GROWING else taken
    nesting = max((size.nesting + 1 for size in inner), default=0)
    if inner is not taken:
        nesting = max(nesting, taken[0].nesting)
    if nesting > MAX_NESTING:
        raise DocumentError(f"the pickle is nested more than {MAX_NESTING} deep")
    if tree > MAX_TREE:
        raise DocumentError(f"the pickle unfolds to more than {MAX_TREE} values")
    stack.append(_Size(tree, nesting) if taken else _ATOM)
