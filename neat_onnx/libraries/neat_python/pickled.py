"""Pickles, read symbolically: nothing that they name is imported, and nothing in them is run.

A pickle is a program for a small stack machine, which may name and call any function. Here a global
is no more than its `Name`, and the result of a call is a `Record` of the name, the arguments and
the attributes. An opcode takes a bounded time and memory, whatever it announces.
"""

import io
import pickle
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from neat_onnx.errors import DocumentError, warn

_FREE_OPCODES = 500_000
_DICTIONARIES = ("collections.OrderedDict", "collections.defaultdict")
_MAKERS = ("copyreg._reconstructor", "copyreg.__newobj__", "copyreg.__newobj_ex__")
_COMMANDS = {
    *("os", "posix", "nt", "subprocess", "sys", "shutil", "socket", "ctypes", "importlib", "runpy"),
    *("pty", "code", "pickle", "builtins.eval", "builtins.exec", "builtins.compile"),
    *("builtins.open", "builtins.__import__"),
}
"""Modules and functions that no network needs, and that a pickle which does harm calls."""
_RENAMED = {"__builtin__": "builtins", "copy_reg": "copyreg"}  # Python 2
_PROBLEMS = (
    *(pickle.UnpicklingError, struct.error, ValueError, TypeError, AttributeError),
    *(IndexError, KeyError, OverflowError),
)
_ATOMS = frozenset((str, bytes, float, bool, type(None)))
_MAX_INTEGER = 1 << 60  # larger ones can be made to collide as keys of a dictionary
_MAX_KEY = 8


class Record:
    """An object as a pickle describes it; its attributes are attributes of the record.

    Attributes:
        pickled_name: the class, or the function that would be called.
        pickled_parts: the arguments of the call, a state that is no attributes, and the entries
            that would be added to it; of a mapping, keys and values in turn.
    """

    __slots__ = ("__dict__", "pickled_name", "pickled_parts")

    def __init__(self, name: Any, arguments: Any) -> None:
        self.pickled_name, self.pickled_parts = name, [arguments]

    def __call__(self, *arguments: Any) -> "Record":
        """Return the record of a call."""
        return Record(self, arguments)

    def build(self, state: Any) -> None:
        """Take the attributes of a state: a dictionary, or two of them."""
        parts = state if isinstance(state, tuple) and len(state) == 2 else (state,)
        if not all(part is None or isinstance(part, dict) for part in parts):
            self.pickled_parts.append(state)
            return
        for part in filter(None, parts):
            self.__dict__ = {**self.__dict__, **part} if self.__dict__ else part

    def append(self, item: Any) -> None:
        """Keep an entry that would be added."""
        self.pickled_parts.append(item)

    def extend(self, items: list[Any]) -> None:
        """Keep entries that would be added."""
        self.pickled_parts += items


@dataclass(frozen=True, slots=True)
class Name:
    """A class or function that a pickle names."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"

    def __call__(self, *arguments: Any) -> Any:
        """Return the record of a call; a dictionary or bytes themselves."""
        name = str(self)
        if name in _DICTIONARIES:
            found: dict[Any, Any] = {}
            if arguments and isinstance(arguments[0], list):  # of Python 2
                _enter(found, [part for pair in arguments[0] for part in pair])
            return found
        if name in _MAKERS and arguments:
            return Record(arguments[0], arguments[1:])
        if name == "_codecs.encode" and isinstance(arguments[0], str):
            return arguments[0].encode("latin1")
        return Record(self, arguments)


def unpickled(data: bytes, max_opcodes: int | None = None) -> Any:
    """Return the content of a pickle; of several in one file, the list of their contents.

    Args:
        data: the bytes.
        max_opcodes: how many opcodes are read; half a million and one for every two bytes if None.
    """
    limit = _FREE_OPCODES + len(data) // 2 if max_opcodes is None else max_opcodes
    machine = _Machine(io.BytesIO(data), limit)
    found = [machine.load()]
    while (begin := machine.file.tell()) < len(data):
        try:
            found.append(machine.load())
        except DocumentError:
            warn(f"the file has {len(data) - begin} bytes after the pickle, which are not read")
            break
    named = sorted(name for name in machine.names if {name, name.split(".")[0]} & _COMMANDS)
    if named:
        warn(
            f"the file names {', '.join(named[:4])}: nothing in it was run, but unpickling it "
            "elsewhere may run that"
        )
    return found if len(found) > 1 else found[0]


def _enter(target: Any, items: list[Any]) -> None:
    """Add keys and values, in turn, to a dictionary or a record."""
    if type(target) is not dict:
        target.extend(items)
        return
    keys = items[::2]
    if not _ATOMS.issuperset(map(type, keys)):
        keys = [key if _is_key(key) else Record(None, key) for key in keys]
    target.update(zip(keys, items[1::2], strict=True))


def _is_key(key: Any) -> bool:
    """Whether it is quickly hashed and compared: an atom, or a short tuple of them."""
    if type(key) is tuple:
        return len(key) <= _MAX_KEY and all(
            type(part) is not tuple and _is_key(part) for part in key
        )
    if type(key) is int:
        return -_MAX_INTEGER < key < _MAX_INTEGER
    return type(key) in _ATOMS or type(key) in (Name, Record)


class _End(Exception):
    """The end of a pickle, with its content."""


_Interpreter: Any = pickle._Unpickler
"""The standard library's stack machine in Python, whose opcodes can be replaced one by one."""


class _Machine(_Interpreter):  # type: ignore[misc]
    """The stack machine without calls, imports, and keys that take long to hash."""

    def __init__(self, file: io.BytesIO, limit: int) -> None:
        super().__init__(file, encoding="latin1")
        self.file, self.limit = file, limit
        self.names: dict[str, Name] = {}

    def load(self) -> Any:
        """Return the content of the pickle that begins here."""
        self.memo: dict[int, Any] = {}
        self.stack: list[Any] = []
        self.metastack: list[list[Any]] = []
        self.append = self.stack.append
        self.read, self.readline = self.file.read, self.file.readline
        read, steps = self.read, _STEPS
        try:
            for left in range(self.limit, 0, -1):  # noqa: B007 - the rest is for the next pickle
                steps[read(1)[0]](self)
        except _End as end:
            self.limit = left
            return end.args[0]
        except _PROBLEMS as error:
            hint = "Was it cut off? Write or copy it again"
            raise DocumentError(f"not a whole pickle: {error!r:.80}", hint=hint) from error
        hint = "If you trust it, give a larger max_opcodes (command line: --max-opcodes)"
        raise DocumentError(f"the pickle has more than {self.limit} opcodes", hint=hint)

    def find_class(self, module: str, name: str) -> Name:
        """Return the name of a global."""
        own = Name(_RENAMED.get(module, module), name)
        return self.names.setdefault(str(own), own)

    def persistent_load(self, pid: Any) -> Record:
        """Return the record of an object outside the pickle."""
        return Record(Name("pickle", "persistent_load"), (pid,))

    def end(self) -> None:
        raise _End(self.stack.pop())

    def new_object(self) -> None:
        arguments = self.stack.pop()
        self.stack[-1] = Record(self.stack[-1], arguments)

    def new_object_with_keywords(self) -> None:
        keywords, arguments = self.stack.pop(), self.stack.pop()
        self.stack[-1] = Record(self.stack[-1], (arguments, keywords))

    def build(self) -> None:
        state = self.stack.pop()
        Record.build(self.stack[-1], state)

    def set_item(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        _enter(self.stack[-1], [key, value])

    def set_items(self) -> None:
        items = self.pop_mark()
        _enter(self.stack[-1], items)

    def dictionary(self) -> None:
        items, found = self.pop_mark(), dict[Any, Any]()
        _enter(found, items)
        self.append(found)

    def bytes_of_8(self) -> None:
        self.append(self.read(int.from_bytes(self.read(8), "little")))

    def extension(self) -> None:
        raise ValueError("an extension code, which only the program that wrote it knows")


_STEPS: dict[int, Callable[[Any], Any]] = _Interpreter.dispatch | {
    code[0]: step
    for code, step in {
        pickle.STOP: _Machine.end,
        pickle.FRAME: lambda m: m.read(8),
        pickle.NEWOBJ: _Machine.new_object,
        pickle.NEWOBJ_EX: _Machine.new_object_with_keywords,
        pickle.BUILD: _Machine.build,
        pickle.SETITEM: _Machine.set_item,
        pickle.SETITEMS: _Machine.set_items,
        pickle.DICT: _Machine.dictionary,
        pickle.EMPTY_SET: _Interpreter.load_empty_list,  # so no element is hashed
        pickle.ADDITEMS: _Interpreter.load_appends,
        pickle.FROZENSET: _Interpreter.load_tuple,
        pickle.BYTEARRAY8: _Machine.bytes_of_8,
        **dict.fromkeys((pickle.EXT1, pickle.EXT2, pickle.EXT4), _Machine.extension),
    }.items()
}


_PLAIN = frozenset((float, int, bool, str, type(None)))
_CODE = re.compile(r"[biufU]\d{1,4}")


def number(value: Any) -> Any:
    """Return numpy's numbers and texts, live or pickled, as Python's, and all else as it is.

    An array of one element is its element.
    """
    if type(value) in _PLAIN:
        return value
    found = _array(value) if isinstance(value, Record) else value
    if isinstance(found, np.generic | np.ndarray) and found.size == 1:
        element = found.reshape(-1)[0].item()
        return float(element) if isinstance(element, np.floating) else element  # a long double
    return value


def _array(record: Record) -> Any:
    """The array of a record of numpy's; None if it is none."""
    kind, (arguments, *states) = str(record.pickled_name), record.pickled_parts
    try:
        if kind.endswith("core.multiarray.scalar"):
            dtype, data = arguments
        elif kind.endswith("._frombuffer"):
            data, dtype, *_ = arguments
        elif kind.endswith("core.multiarray._reconstruct"):
            _, _, dtype, _, data = states[0]
        else:
            return None
        (code, *_), (_, order, *_) = dtype.pickled_parts
        if str(dtype.pickled_name) != "numpy.dtype" or not _CODE.fullmatch(code):
            return None
        data = data.encode("latin1") if isinstance(data, str) else data  # of Python 2
        return np.frombuffer(data, np.dtype(order + code))
    except (TypeError, ValueError, AttributeError, IndexError):
        return None
