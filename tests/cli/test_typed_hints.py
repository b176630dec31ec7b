"""What a hint shows is typed, as it stands there: flags on the command line, keywords in Python.

Each row is a text of the package that can be typed, with a call that it is the advice for.
"""

import ast
import json
import re
import shlex
from pathlib import Path
from typing import Any

import onnx
import pytest

import neat_onnx
from neat_onnx import NeatOnnxError, Network
from neat_onnx.cli.parser import parser

CLASSIFIER = Network.mlp([2, 1], activation="sigmoid", seed=0)
LARGE = Network.build(inputs=1, outputs=[1], neurons=[1], connections=[(0, 1, 1e39)])
LOOP = Network.rnn(1, 2, seed=0)
STARTED = Network.build(
    inputs=1,
    outputs=[1],
    neurons=[{"id": 1, "initial": 0.5, "activation": "tanh"}],
    connections=[(0, 1, 1.0), {"source": 1, "target": 1, "weight": 0.5, "delay": 1}],
)
STATES = """<ir_version: 8, opset_import: ["": 18],
 metadata_props: ["neat_onnx.state": "[[\\"h\\", \\"gone\\"]]"]>
a (float[N, 1] x, float[N, 1] h_in) => (y, h_out) { y = Tanh (x) h_out = Add (x, h_in) }"""
CTRNN = {
    "format_version": "1.0",
    "network_type": "ctrnn",
    "metadata": {"neat_python_version": "2.1.0"},
    "topology": {"input_keys": [-1], "output_keys": [0]},
    "nodes": [
        {
            **{"id": 0, "type": "output", "bias": 0.5, "response": 1.0, "time_constant": 1.0},
            **{"activation": {"name": "tanh"}, "aggregation": {"name": "sum"}},
        }
    ],
    "connections": [{"from": -1, "to": 0, "weight": 2.0, "enabled": True}],
}
GONEAT = """genomestart 1
trait 1 0.1 0 0 0 0 0 0 0
node 1 0 1 1 NullActivation
node 2 0 0 2 SigmoidSteepenedActivation
gene 1 1 2 1.5 false 1 0 true
gene 1 2 2 0.5 false 2 0 true
genomeend 1
"""
TENSORNEAT = {
    "nodes": [{"idx": k, "bias": 0.5, "res": 1.0, "agg": "sum", "act": "tanh"} for k in range(2)],
    "conns": [{"in": 0, "out": 1, "weight": 2.0}, {"in": 1, "out": 1, "weight": 0.5}],
}
SHARPNEAT = """<Root><ActivationFunctions>
<Fn id="0" name="SteepenedSigmoid" prob="1"/></ActivationFunctions><Networks>
<Network id="7" birthGen="0" fitness="0"><Nodes>
<Node type="bias" id="0"/><Node type="in" id="1"/><Node type="out" id="2"/></Nodes>
<Connections><Con id="3" src="1" tgt="2" wght="1"/><Con id="4" src="2" tgt="2" wght="0.5"/>
</Connections></Network></Networks></Root>"""


def onnx_text(text: str) -> bytes:
    return onnx.parser.parse_model(text).SerializeToString()


def shortened(each: Any) -> str:
    return each[:30] if isinstance(each, str) else ""


def winner(**facts: Any) -> dict[str, Any]:
    """A pickled genome and its configuration."""
    return {"w.pkl": CLASSIFIER, **facts}


# what a hint says → the files, the command, and what stands for N, ID, FILE and bare flags
COMMANDS: list[tuple[str, dict[str, Any], str, dict[str, str]]] = [
    ("Ask for one of them, genome=ID", {"a.json": [CLASSIFIER.to_library("neataptic")] * 2},
     "inspect a.json", {"ID": "1"}),
    ("Say how many updates a step takes", {"a.neat": GONEAT}, "inspect a.neat", {"N": "2"}),
    ("Say the num_inputs and num_outputs", {"a.json": TENSORNEAT}, "inspect a.json --cycles 1",
     {"N": "1"}),
    ("Say how many updates a sample takes", {"a.json": TENSORNEAT},
     "inspect a.json --inputs 1 --outputs 1", {"N": "2"}),
    ("Say the timesteps of SharpNEAT's", {"a.xml": SHARPNEAT}, "inspect a.xml", {"N": "2"}),
    ("Give time_step, and advance_time if", {"a.json": CTRNN}, "inspect a.json",
     {"--time-step": "0.1", "--advance-time": "0.2"}),
    ("inferred from the matrix: say", {"a.out": "0,0,1,1\n0,0,2,1\n0,0,0,1\n"}, "inspect a.out",
     {"N": "1"}),
    ("the genome came without its configuration", winner(), "inspect w.pkl",
     {"--config": "w.ini", "--inputs": "2", "--outputs": "1"}),
    ("If you trust it, give a larger max_opcodes", winner(),
     "inspect w.pkl --config w.ini --max-opcodes 5", {"--max-opcodes": "1000000"}),
    ("Give it as config, beside the genome", winner(), "inspect w.ini",
     {"--config": "w.ini", "w.ini": "w.pkl"}),
    ("Say which output feeds which input", {"a.onnx": onnx_text(STATES)}, "import a.onnx b.json",
     {}),
    ("To turn a model into a network use", {"a.onnx": neat_onnx.export(CLASSIFIER).to_bytes()},
     "export a.onnx b.onnx", {"command": "import a.onnx b.json"}),
    ("To turn a network into a model use", {"a.json": CLASSIFIER}, "convert a.json b.onnx",
     {"command": "export a.json b.onnx"}),
    ("Is it a certificate?", {"a.json": CLASSIFIER, "m.onnx": neat_onnx.export(CLASSIFIER)},
     "replay a.json a.json m.onnx", {"command": "certify a.json m.onnx c.json"}),
    ("docs/options.md and `neat-onnx export --help`", {"a.json": CLASSIFIER, "o.json": {"x": 1}},
     "export a.json b.onnx --options o.json", {"command": "export --help"}),
]  # fmt: skip


def told(run: Any, words: list[str]) -> tuple[int, str]:
    try:
        code, _, errors = run(*words)
    except SystemExit as ended:  # --help
        return int(ended.code or 0), ""
    return code, " ".join(errors)


def write(files: dict[str, Any]) -> None:
    for name, content in files.items():
        if isinstance(content, Network | neat_onnx.Model):
            content.save(name)
        elif isinstance(content, bytes):
            Path(name).write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content)
            Path(name).write_text(text)


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize(("says", "files", "line", "given"), COMMANDS, ids=shortened)
def test_flags_of_a_hint_work_as_typed(run, says, files, line, given):
    write(files)
    words = shlex.split(line)
    code, text = told(run, words)
    assert code == 2 or "warning" in text
    assert says in text
    if "command" in given:
        assert f"neat-onnx {given['command'].split()[0]}" in text or says.startswith("Leave out")
        assert told(run, shlex.split(given["command"]))[0] == 0
        return
    words = [word if word.startswith("--") else given.get(word, word) for word in words]
    ways = [way for way in re.split(r"\bor\b|;", text[text.index(says) :]) if "--" in way]
    assert ways
    for way in ways:
        flags = []
        for flag, value in re.findall(r"(--[a-z-]+)(?: ([^\s,()]+))?", way):
            flags += [flag, given.get(value, value) or given[flag]]
        code, after = told(run, [*words, *flags])
        assert code == 0, (way, after)


KEYWORDS: list[tuple[str, Any, dict[str, Any]]] = [
    ('Export with dtype="float64"', lambda **k: neat_onnx.export(LARGE, **k), {}),
    ("Leave the metadata on, or write it all the same",
     lambda **k: neat_onnx.export(STARTED, include_metadata=False, **k), {}),
    ("Say which it is, as in rename=",
     lambda **k: neat_onnx.export(
         neat_onnx.import_model(onnx_text("""<ir_version: 8, opset_import: ["": 18]>
         a (float[N, 1] x) => (float[N, 1] y, float[N, 1] z) { y = Tanh (x) z = Relu (x) }""")),
         preset="godot-rl", **k), {}),
    ("lossy=True writes it all the same",
     lambda **k: neat_onnx.export(Network.mlp([2, 2, 1], activation="gelu", seed=0),
                                  dialect="neataptic", **k), {}),
    ("Raise it", lambda **k: neat_onnx.import_model(
        neat_onnx.export(Network.mlp([2, 40, 40, 1], seed=0)), **k), {"limits": {"neurons": 20}}),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize(("says", "call", "given"), KEYWORDS, ids=shortened)
def test_keywords_of_a_hint_work_as_typed(says, call, given):
    with neat_onnx.limits(**given.get("limits", {})), pytest.raises(NeatOnnxError) as refused:
        call()
    hint = refused.value.hint
    assert says in hint
    pattern = r"\b([a-z_]+)=(\{.*?\}|\[.*?\]|'[^']*'|\"[^\"]*\"|True|\d+)"
    keywords = {name: ast.literal_eval(value) for name, value in re.findall(pattern, hint)}
    assert keywords
    if "limits(" in hint:
        with neat_onnx.limits(**given["limits"] | keywords):
            call()
    else:
        call(**keywords)


def texts_in_messages() -> list[tuple[str, str]]:
    """The texts of the package beside its docstrings and help, each with its place."""
    package, found = Path(neat_onnx.__file__).parent, []
    for path in sorted(package.rglob("*.py")):
        told: set[int] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_help = isinstance(node, ast.keyword) and node.arg in ("description", "help")
            if is_help or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                told |= {id(each) for each in ast.walk(node)}
            elif isinstance(node, ast.Constant) and id(node) not in told:
                found.append((f"{path.name}:{node.lineno}", str(node.value)))
    return found


def flags_of(one):
    """The flags of a parser and of its commands."""
    for action in one._actions:
        yield from action.option_strings
        for inner in (action.choices or {}).values() if isinstance(action.choices, dict) else ():
            yield from flags_of(inner)


def test_flags_names_and_commands_in_messages_exist():
    known = {*flags_of(parser()), "--provider"}
    for place, text in texts_in_messages():
        for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text):
            assert flag in known, f"{place}: {flag}"
        for name in re.findall(r"\bneat_onnx\.([a-z_]+)\(", text):
            assert hasattr(neat_onnx, name), f"{place}: {name}"
        for command in re.findall(r"`neat-onnx ([a-z]+)", text):
            assert has_help(command), f"{place}: {command}"


def has_help(command):
    with pytest.raises(SystemExit) as ended:
        parser().parse_args([command, "--help"])
    return ended.value.code == 0
