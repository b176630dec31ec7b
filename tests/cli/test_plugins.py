"""--plugin: a module of the user's is imported before anything is read."""

import json
import sys

import pytest

import neat_onnx
from neat_onnx.network.activations import ACTIVATIONS, unregister_activation

PLUGIN = """
import neat_onnx
from neat_onnx.network.expression import sigmoid


class Weights(neat_onnx.Library):
    name = "weights"
    keys = "w"

    def recognises(self, content):
        return isinstance(content, dict) and "w" in content

    def read(self, content, options):
        net = neat_onnx.Network.mlp([2, 1], activation="plugin_swish", seed=int(content["w"]))
        return net


neat_onnx.register_activation("plugin_swish", lambda z: z * sigmoid(1.75 * z))
neat_onnx.register_library(Weights())
"""


@pytest.fixture
def plugin(run):
    """A file that registers an activation and a library, which are gone after the test."""
    path = run.folder / "mine.py"
    path.write_text(PLUGIN)
    (run.folder / "net.json").write_text(json.dumps({"w": 3}))
    yield "mine.py"
    sys.modules.pop(f"plugin {path.resolve()}", None)
    sys.modules.pop("mine", None)
    if "plugin_swish" in ACTIVATIONS:
        unregister_activation("plugin_swish")
        neat_onnx.unregister_library("weights")


@pytest.mark.parametrize("place", [0, 4])
def test_what_a_plugin_registers_is_known(run, plugin, place):
    assert run("export", "net.json", "a.onnx")[0] == 2
    command = ["export", "net.json", "a.onnx", "--verify"]
    code, _, errors = run(*command[:place], "--plugin", plugin, *command[place:])
    assert (code, errors) == (0, [])


def test_a_plugin_is_a_module_too_and_is_imported_once(run, plugin, monkeypatch):
    monkeypatch.syspath_prepend(str(run.folder))
    for _ in range(2):
        assert run("--plugin", "mine", "--plugin", "json", "inspect", "net.json")[0] == 0
        assert run("--plugin", "mine", "inspect", "net.json", "--plugin", "json")[0] == 0


def test_a_file_is_imported_once(run, plugin):
    for _ in range(2):
        assert run("--plugin", plugin, "--plugin", plugin, "inspect", "net.json")[0] == 0


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("none.py", None, "there is no such file (--plugin none.py)"),
        ("none", None, "there is no such module (--plugin none). Name its file, as in --plugin "
         "none.py, or install it"),
        ("bad.py", "1 / 0", "importing it raises ZeroDivisionError: division by zero"),
        ("bad.py", "raise ValueError('a\\nb')", "importing it raises ValueError: a b"),
        ("bad.py", "import sys; sys.exit(3)", "importing it raises SystemExit: 3"),
        ("bad.py", "def (", "importing it raises SyntaxError"),
        ("bad.py", "import neat_onnx; neat_onnx.register_library(3)", "not a library but a int"),
        (".", None, "importing it raises TypeError"),
    ],
)  # fmt: skip
def test_a_plugin_that_cannot_be_imported_is_one_line(run, name, code, message):
    if code is not None:
        (run.folder / name).write_text(code)
    result, out, errors = run("--plugin", name, "inspect", "net.json")
    assert (result, out, len(errors)) == (2, "", 1)
    assert errors[0].startswith(f"error: {message}")
    assert f"(--plugin {name})" in errors[0]


def test_the_flag_needs_a_name(run):
    errors = run("inspect", "net.json", "--plugin")[2]
    assert errors == ["error: expected one argument (--plugin). See neat-onnx --help"]
