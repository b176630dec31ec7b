"""Hostile pickles: nothing in them runs, and each is refused in one line."""

import bz2
import gzip
import io
import lzma
import os
import pickle
import resource
import struct
import time
import zlib

import pytest
from support.harness.sweep import every

from neat_onnx import NeatOnnxError, load_network, load_networks

pytestmark = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")

TOUCH, OPEN = ("touch hacked",), ("open('hacked', 'w')",)
FUNCTIONS = [
    (TOUCH, "os:system posix:system subprocess:getoutput pathlib:Path.touch runpy:run_path"),
    (OPEN, "builtins:eval builtins:exec __builtin__:eval builtins:compile"),
    ((["touch", "hacked"],), "subprocess:Popen subprocess:check_output"),
    (("hacked", "w"), "builtins:open numpy:load torch:load neat_onnx.files:write_bytes"),
    (("os",), "builtins:__import__ importlib:import_module"),
    ((".",), "shutil:rmtree builtins:list"),
    ((10**10,), "builtins:bytearray builtins:bytes builtins:range"),
    (("9" * 5000,), "builtins:int"),
    (("x", "upper"), "builtins:getattr _codecs:encode operator:attrgetter"),
    (("libc.so.6",), "ctypes:CDLL"),
    ((1,), "sys:exit os:_exit"),
    ((), "code:interact socket:socket types:FunctionType numpy.core.multiarray:_reconstruct"),
    ((b"N.",), "pickle:loads codecs:decode functools:partial"),
    (("f8", b"12345678"), "numpy.core.multiarray:scalar"),
    ((1, 2, 3), "copyreg:_reconstructor"),
    (("x",), "neat.nn.feed_forward:FeedForwardNetwork __main__:Evil"),
]
CALLS = [(*name.split(":"), args) for args, names in FUNCTIONS for name in names.split()]


def call(module, name, arguments):
    """A pickle that calls the function."""
    out = io.BytesIO()
    out.write(b"\x80\x04" + f"c{module}\n{name}\n".encode())
    out.write(pickle.dumps(arguments, protocol=2)[2:-1] + b"R.")
    return out.getvalue()


def nested(opener, count):
    return b"\x80\x04" + opener * count + b"."


def keys(parts):
    """A dictionary of these keys, each the opcodes of one."""
    return b"\x80\x04}(" + b"".join(part + b"N" for part in parts) + b"u."


def number(value):
    """The opcodes of an integer."""
    return pickle.dumps(value, protocol=2)[2:-1]


def bomb(compress):
    """Many lists in few bytes."""
    return compress(b"\x80\x04" + b"]" * 10_000_000 + b".")


def laughs(combine, levels=40):
    """Each level holds the one below it many times."""
    body = b"\x80\x04K\x01\x94"
    for level in range(levels):
        body += b"(" + b"h" + bytes([level]) + (b"h" + bytes([level])) * 9 + combine + b"\x94"
    return body + b"."


OTHERS = {
    "laughing tuples": laughs(b"t"),
    "laughing lists": laughs(b"l"),
    "laughing keys": laughs(b"t", 20)[:-1] + b"}" + b"h\x14" + b"K\x01s.",
    "nested tuples": nested(b")", 1)[:-1] + b"\x85" * 200_000 + b".",
    "nested lists": b"\x80\x04" + b"]" * 50_000 + b"a" * 49_999 + b".",
    "a gigabyte announced": b"\x80\x04\x8e" + struct.pack("<Q", 1 << 30) + b"x.",
    "a gigabyte of bytearray": b"\x80\x05\x96" + struct.pack("<Q", 1 << 30) + b"x.",
    "a frame of a gigabyte": b"\x80\x04\x95" + struct.pack("<Q", 1 << 30) + b"N.",
    "a memo of 4 billion": b"\x80\x04Nr\xff\xff\xff\xff.",
    "a persistent id": b"\x80\x04X\x01\x00\x00\x00aQ.",
    "a persistent id in text": b"Pxyz\n.",
    "an extension": b"\x80\x04\x82\x01.",
    "an unknown opcode": b"\x80\x04\xff.",
    "an unknown protocol": b"\x80\x09N.",
    "nothing": b"\x80",
    "no end": b"\x80\x04N",
    "an empty stack": b"\x80\x04.",
    "no mark": b"\x80\x04u.",
    "a memo that is not there": b"\x80\x04h\x07.",
    "a state of a class": b"\x80\x04cneat.x\nY\n}b.",
    "an unhashable key": b"\x80\x04}]K\x01s.",
    "an integer of text": b"I" + b"9" * 100_000 + b"\n.",
    "keys that collide": keys(number(k * ((1 << 61) - 1)) for k in range(100_000)),
    "long keys": b"\x80\x04" + number(1 << 8_000_000) + b"\x94}(" + b"h\x00N" * 200_000 + b"u.",
    "long tuples as keys": laughs(b"t", 3)[:-1] + b"}(" + b"h\x03N" * 200_000 + b"u.",
    "a set of tuples": laughs(b"t", 20)[:-1] + b"\x8f(h\x14\x90.",
    "a frozenset of tuples": laughs(b"t", 20)[:-1] + b"(h\x14\x91.",
    "a megabyte of lists": b"\x80\x04" + b"]" * 1_000_000 + b".",
    "a megabyte of marks": b"\x80\x04" + b"(" * 1_000_000 + b".",
    "nested calls": b"\x80\x04cos\nsystem\n" + b")R" * 200_000 + b".",
    "nested states": b"\x80\x04" + b"cneat.x\nY\n)\x81\x94h\x00" * 1 + b"}h\x00h\x00sb.",
    "a thousand pickles": b"\x80\x04N." * 100_000,
    "a bzip2 bomb": bomb(bz2.compress),
    "an xz bomb": bomb(lzma.compress),
    "a zlib bomb": bomb(zlib.compress),
    "a bomb of lists": bomb(gzip.compress),
    "an xz file of a large dictionary": lzma.compress(
        b"N.", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30, "preset": 0}]
    ),
    "a gzip bomb": gzip.compress(b"\x80\x04" + b"N0" * 40_000_000 + b"N.", compresslevel=9),
    "a broken gzip": gzip.compress(b"\x80\x04N.")[:-6],
    "a float": pickle.dumps(1.5),
    "a genome of nothing": b"\x80\x04cneat.genome\nDefaultGenome\n)\x81}(X\x05\x00\x00\x00nodes}"
    b"X\x0b\x00\x00\x00connections}ub.",
}
HOSTILE = {f"{m}.{n}": call(m, n, a) for m, n, a in CALLS} | OTHERS


@pytest.mark.parametrize(("name", "read"), every(HOSTILE, [load_network, load_networks]))
def test_nothing_runs_and_it_is_one_line(name, read, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with pytest.raises(NeatOnnxError) as caught:
        read(HOSTILE[name], "[NEAT]\n[G]\nnum_inputs=2\nnum_outputs=1\nfeed_forward=True\n")
    assert "\n" not in str(caught.value)
    assert os.listdir(tmp_path) == []
    assert time.process_time() - start < 10.0  # a hang, not a benchmark
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


@pytest.mark.parametrize("call_", [c for c in CALLS if c[0] in ("os", "subprocess", "builtins")])
def test_the_refusal_names_what_was_asked_for(call_):
    module, name, arguments = call_
    if name in ("int", "list"):
        return
    with pytest.raises(NeatOnnxError, match=f"{module}.{name}"):
        load_network(call(module, name, arguments))
