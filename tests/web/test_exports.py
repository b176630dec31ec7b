"""Shared libraries without needless exports, as Node's WebAssembly reads them."""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2] / "web"))

from pack.exports import imported, stripped

READ = """
const library = new WebAssembly.Module(require("fs").readFileSync(0));
const named = (entries) => entries.map(({ name, kind }) => [name, kind]);
console.log(JSON.stringify({
  imports: named(WebAssembly.Module.imports(library)),
  exports: named(WebAssembly.Module.exports(library)),
  own: WebAssembly.Module.customSections(library, "dylink.0").length,
}));
"""


def name(text: str) -> bytes:
    return bytes([len(text)]) + text.encode()


def section(kind: int, *entries: bytes) -> bytes:
    content = bytes([len(entries)]) + b"".join(entries)
    assert len(content) < 128 or kind == 7
    size = [len(content)] if len(content) < 128 else [len(content) & 127 | 128, len(content) >> 7]
    return bytes([kind, *size]) + content


def library(exports: list[tuple[str, int]]) -> bytes:
    """One that imports a thing of each kind, defines two functions, and exports some."""
    imports = [
        name("env") + name("_Zfunction") + b"\x00\x00",
        name("env") + name("table") + b"\x01\x70\x01\x00\x09",
        name("env") + name("memory") + b"\x02\x00\x01",
        name("GOT.mem") + name("_Zglobal") + b"\x03\x7f\x01",
        name("env") + name("tag") + b"\x04\x00\x00",
        name("GOT.func") + name("_Zown") + b"\x03\x7f\x01",
    ]
    dylink = name("dylink.0") + b"\x01\x02"
    return (
        b"\0asm\x01\0\0\0"
        + bytes([0, len(dylink)])
        + dylink
        + section(1, b"\x60\x00\x00")
        + section(2, *imports)
        + section(3, b"\x00", b"\x00")
        + section(7, *(name(text) + bytes([0, index]) for text, index in exports))
        + section(10, b"\x02\x00\x0b", b"\x02\x00\x0b")
    )


def read(data: bytes) -> dict:
    return json.loads(
        subprocess.run(["node", "-e", READ], input=data, stdout=-1, check=True).stdout
    )


EXPORTS = [("PyInit_it", 1), ("_Zown", 1), ("_Zidle", 2), ("__wasm_call_ctors", 2), ("_Zother", 2)]


def test_imports_of_every_kind_are_found():
    data = library(EXPORTS)
    assert imported(data) == {text.encode() for text, _ in read(data)["imports"]}


def test_only_cpp_names_that_nobody_wants_are_left_out():
    data = library(EXPORTS)
    found = read(stripped(data, imported(data) | {b"_Zother"}))
    assert [text for text, _ in found["exports"]] == [
        "PyInit_it",
        "_Zown",
        "__wasm_call_ctors",
        "_Zother",
    ]
    assert {**found, "exports": None} == {**read(data), "exports": None}


def test_a_long_section_may_become_a_short_one():
    many = [(f"_Zidle{number}", 2) for number in range(100)]
    data = library([("PyInit_it", 1), *many])
    assert read(stripped(data, set()))["exports"] == [["PyInit_it", "function"]]
    assert stripped(data, {text.encode() for text, _ in many}) == data
