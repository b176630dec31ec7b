"""Pickles of neat-python, without running anything in them and without neat-python.

A pickle is a small program that may call any function. Here a class or function that it names
becomes an inert stand-in of that name: an object holds its attributes, and nothing else. Everything
of the standard library is refused by name, but for a short list of containers and numbers.
"""

import gzip
import io
import pickle
import struct
import sys
import zlib
from collections.abc import Callable
from typing import Any

from neat_onnx.errors import DocumentError, NeatOnnxError
from neat_onnx.files import sniff
from neat_onnx.libraries.neat_python.pickle_limits import check_limits

_MAX_BYTES = 64 << 20
_HINT = "Only what neat-python pickles is read; nothing in the file was run"
_PROBLEMS = (
    pickle.UnpicklingError, AttributeError, EOFError, ImportError, IndexError, KeyError, TypeError,
    ValueError, OverflowError, RecursionError, AssertionError, struct.error,
)  # fmt: skip


_HELD = {
    "json": "JSON",
    "text": "text",
    "binary": "no pickle",
    "onnx": "an ONNX model",
    "zip": "a zip archive",
    "gzip": "another gzip file",
}


class StandIn:
    """An object of a class that a pickle names: its attributes, none of its behaviour."""

    def __init__(self, *_: object, **__: object) -> None:
        """Take the arguments of any class, and forget them."""

    def __setstate__(self, state: object) -> None:
        """Keep the attributes.

        Raises:
            DocumentError: they are no attributes.
        """
        parts = state if isinstance(state, tuple) and len(state) == 2 else (state,)
        for part in parts:
            if isinstance(part, dict) and all(isinstance(key, str) for key in part):
                self.__dict__.update(part)
            elif part is not None:
                raise DocumentError("the pickle gives an object a state that is no attributes")


class _Forgotten(StandIn):
    """A number generator, a counter: a value that no network depends on."""

    def __setstate__(self, state: object) -> None:
        """Forget any state."""


class _Dictionary(dict[Any, Any]):
    """A defaultdict without its factory, which nothing calls."""

    def __init__(self, *_: object) -> None:
        """Take the factory, and forget it."""
        super().__init__()


class _DType(StandIn):
    """A dtype of numpy: its code, such as `f8`."""

    def __init__(self, code: object = "", *_: object) -> None:
        """Keep the code."""
        self.code = code

    def __setstate__(self, state: object) -> None:
        """Keep the byte order, the second entry of a dtype's state."""
        self.order = state[1] if isinstance(state, tuple) and len(state) > 1 else "<"


_CODES = {"f8": "d", "f4": "f", "f2": "e", "i8": "q", "i4": "i", "b1": "?"}


def _numpy_scalar(dtype: object, data: object) -> float | int | bool:
    """The number of a pickled numpy scalar."""
    code = dtype.code if isinstance(dtype, _DType) else None
    if not isinstance(code, str) or code not in _CODES or not isinstance(data, bytes):
        raise DocumentError(f"a number of numpy of the type {code!r} is not read")
    order = ">" if getattr(dtype, "order", "<") == ">" else "<"
    number: float | int | bool = struct.unpack(order + _CODES[code], data)[0]
    return number


def _latin1(text: object, encoding: object = "latin1") -> bytes:
    """Bytes, as protocols 0 to 2 write them."""
    if not isinstance(text, str) or encoding != "latin1":
        raise DocumentError("the pickle encodes a text in another way than pickles do")
    return text.encode("latin1")


def _reconstructed(kind: object, base: object = object, state: object = None) -> StandIn:
    """An object of a class, as protocols 0 and 1 write it."""
    if not isinstance(kind, type) or not issubclass(kind, StandIn):
        raise DocumentError("the pickle makes an object of what is no class of neat-python")
    return kind()


_ALLOWED: dict[str, Callable[..., Any]] = {
    "builtins.set": set,
    "builtins.frozenset": frozenset,
    "builtins.object": object,
    "collections.OrderedDict": dict,
    "collections.defaultdict": _Dictionary,
    "copyreg._reconstructor": _reconstructed,
    "_codecs.encode": _latin1,
    "itertools.count": _Forgotten,
    "random.Random": _Forgotten,
    "numpy.dtype": _DType,
    "numpy.core.multiarray.scalar": _numpy_scalar,
    "numpy._core.multiarray.scalar": _numpy_scalar,
}
_RENAMED = {"__builtin__": "builtins", "copy_reg": "copyreg"}  # Python 2
_TYPES = {
    f"builtins.{name}"
    for name in ("int", "long", "float", "str", "unicode", "bool", "list", "dict", "tuple")
} | {"builtins.max", "builtins.min"}
"""Named as factories, value types and fitness criteria, never called."""


class _Unpickler(pickle.Unpickler):
    """An unpickler that knows no class but stand-ins."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data), encoding="latin1")
        self._kinds: dict[str, type[StandIn]] = {}

    def find_class(self, module: str, name: str) -> Any:
        """Return the stand-in for a class or function; see the module's text."""
        module_name = _RENAMED.get(module, module)
        full = f"{module_name}.{name}"
        if full in _ALLOWED:
            return _ALLOWED[full]
        root = module_name.partition(".")[0]
        refused = root in sys.stdlib_module_names or root in sys.builtin_module_names
        refused = refused and root != "__main__" and full not in _TYPES
        if refused or root in ("numpy", "neat_onnx"):
            raise DocumentError(f"the pickle asks for {full}, which is refused", hint=_HINT)
        if full not in self._kinds:
            kind = type(name.rpartition(".")[2] or "_", (StandIn,), {"__module__": module_name})
            self._kinds[full] = kind
        return self._kinds[full]

    def persistent_load(self, pid: Any) -> Any:
        """Refuse an object outside the pickle."""
        raise DocumentError("the pickle refers to an object outside it", hint=_HINT)


def unpickled(data: bytes) -> Any:
    """Return the content of a pickle, or of a gzipped one, with stand-ins for all its objects.

    Args:
        data: the bytes of the file.

    Raises:
        DocumentError: it is not a pickle, is too large, or names a class that neat-python does not
            have.
    """
    if data.startswith(b"\x1f\x8b"):
        data = _gunzipped(data)
        _check_pickled(data)
    if len(data) > _MAX_BYTES:
        raise DocumentError(f"the pickle is larger than {_MAX_BYTES >> 20} MiB")
    check_limits(data)
    try:
        return _Unpickler(data).load()
    except NeatOnnxError:
        raise
    except _PROBLEMS as error:
        raise DocumentError(f"not a pickle of neat-python: {error}", hint=_HINT) from error


def _check_pickled(data: bytes) -> None:
    """Refuse the content of a gzip file that is no pickle, by name.

    Pickles of protocol 0 and 1 have no signature, but the last byte.

    Raises:
        DocumentError: it is something else.
    """
    if not data:
        raise DocumentError("a gzip file that holds nothing", hint="Write the network again")
    kind, hint = sniff(data), "Unpack it first: gunzip FILE"
    if data[257:262] == b"ustar":
        held, hint = "a tar archive", "Unpack it, and give the network in it: tar xzf FILE"
    elif kind in ("text", "binary"):
        held = "" if data.endswith(b".") else _HELD[kind]
    else:
        held = _HELD.get(kind, "")
    if held:
        raise DocumentError(f"a gzip file that holds {held}", hint=hint)


def _gunzipped(data: bytes) -> bytes:
    """The content of a gzip file, if it is not too large."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            return file.read(_MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DocumentError(
            f"not a whole gzip file: {error}", hint="Was it cut off? Write or copy it again"
        ) from error
