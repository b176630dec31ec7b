"""The programs that the page shows for a model: executed, or read by their names."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from support.examples.cases import case

import neat_onnx
from neat_onnx.page.snippets import snippets

ROOT = Path(__file__).absolute().parents[2]
STAND_IN = str(Path(__file__).absolute().parent / "csharp_session.cs")
MONO = shutil.which("mcs") and shutil.which("mono")


def made(name: str, **options: object) -> tuple[neat_onnx.Network, neat_onnx.Model]:
    net = (
        neat_onnx.load_network(case(name).source, time_step=0.5)
        if "iznn" in name
        else case(name).network()
    )
    return net, neat_onnx.export(net, **options)


def program(model: neat_onnx.Model, title: str) -> str:
    return {each["title"]: each["text"] for each in snippets(model, "my net.onnx")}[title]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("np-ff-19", {"dtype": "float64"}),
        ("np-rec-10", {"sequence": True}),
        ("nts-net-lstm-2", {}),
        ("np-iznn-4", {}),
    ],
)
def test_the_python_program_runs_and_carries_the_states(
    name, options, tmp_path, monkeypatch, capsys
):
    net, model = made(name, **options)
    model.save(tmp_path / "my net.onnx")
    monkeypatch.chdir(tmp_path)
    exec(compile(program(model, "Python"), "program", "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    if not options:
        assert_steps(net, printed.replace("[", " ").replace("]", " ").split())


def assert_steps(net: neat_onnx.Network, words: list[str]) -> None:
    steps = 3 if net.has_memory else 1
    want = net.run(np.zeros((steps, len(net.input_neurons))))
    got = np.array([float(word) for word in words]).reshape(want.shape)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def typed(name: str, dtype: str) -> neat_onnx.Model:
    """An export of a network with a first input and output of this type, as imported ones have."""
    net = case(name).network()
    ports = replace(net.inputs[0], dtype=dtype), replace(net.outputs[0], dtype=dtype)
    return neat_onnx.export(replace(net, inputs=ports[:1], outputs=ports[1:]))


DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_python_program_gives_each_type(dtype, tmp_path, monkeypatch, capsys):
    typed("np-ff-19", dtype).save(tmp_path / "my net.onnx")
    monkeypatch.chdir(tmp_path)
    exec(compile(program(typed("np-ff-19", dtype), "Python"), "program", "exec"), {})
    words = capsys.readouterr().out.replace("[", " ").replace("]", " ").split()
    assert_steps(case("np-ff-19").network(), words)


def test_the_javascript_programs_run_in_onnxruntime_web(tmp_path):
    """One after the other in one process, as it takes seconds to load the runtime."""
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    models = {name: made(name) for name in ("np-ff-19", "nts-net-lstm-2")}
    models |= {dtype: (models["np-ff-19"][0], typed("np-ff-19", dtype)) for dtype in DTYPES}
    nets, imports = [], []
    for name, (net, model) in models.items():
        nets.append(net)
        model.save(tmp_path / f"{name}.onnx")
        text = program(model, "JavaScript").replace(".data);", ".data.join(' '));")
        (tmp_path / f"{name}.mjs").write_text(text.replace("my net.onnx", f"{name}.onnx"))
        imports.append(f"await import('./{name}.mjs'); console.log('next');")
    (tmp_path / "run.mjs").write_text("\n".join(imports))
    done = subprocess.run(
        ["node", "--liftoff-only", "run.mjs"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for net, printed in zip(nets, done.stdout.split("next"), strict=False):
        assert_steps(net, printed.split())


@pytest.mark.skipif(not MONO, reason="needs Mono: make compilers")
def test_the_csharp_programs_run(tmp_path):
    """Compiled by Mono against a stand-in of onnxruntime's library for C#, which hands the tensors
    of each run to onnxruntime here, and its results back.
    """
    models = {name: made(name) for name in ("np-ff-19", "nts-net-lstm-2")}
    models |= {dtype: (models["np-ff-19"][0], typed("np-ff-19", dtype)) for dtype in DTYPES}
    for net, model in models.values():
        head, _, body = program(model, "C#").partition("\n\n")
        main = f"{head}\nclass Program\n{{\nstatic void Main()\n{{\n{body}\n}}\n}}\n"
        (tmp_path / "program.cs").write_text(main)
        build = ["mcs", "-langversion:6", "-out:run.exe", "program.cs", STAND_IN]
        subprocess.run(build, cwd=tmp_path, check=True)
        session = onnxruntime.InferenceSession(model.to_proto().SerializeToString())
        printed = _played(tmp_path, session, [entry.name for entry in model.graph.outputs])
        assert_steps(net, re.sub("True|False", _number, printed).replace(",", " ").split())


def _number(found: re.Match[str]) -> str:
    return str(int(found[0] == "True"))


def _played(folder: Path, session: onnxruntime.InferenceSession, names: list[str]) -> str:
    """Return what a program prints whose runs are made by a session; see the stand-in."""
    with subprocess.Popen(
        ["mono", "run.exe"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        printed, inputs = "", {}
        for line in process.stdout:
            mark, *fields = line.rstrip("\n").split("\t")
            if mark == "<input>":
                name, dtype, sizes, values = fields
                shape = [int(size) for size in sizes.split(",") if size]
                words = [word.replace("True", "1").replace("False", "0") for word in values.split()]
                inputs[name] = np.array(words).astype(float).astype(dtype.lower()).reshape(shape)
            elif mark == "<run>":
                for name, array in zip(names, session.run(names, inputs), strict=True):
                    sizes = ",".join(map(str, array.shape))
                    values = " ".join(str(value) for value in array.ravel())
                    process.stdin.write(f"{name}\t{sizes}\t{values}\n")
                process.stdin.write("\n")
                process.stdin.flush()
                inputs = {}
            else:
                printed += line
    return printed


def test_a_single_number_has_no_axis():
    """`new[] { }` is no C#: nothing tells the type of its elements."""
    net, _ = made("np-ff-19")
    port = replace(net.inputs[0], neurons=net.inputs[0].neurons[:1], shape=(), batch_axis=None)
    rest = replace(net.inputs[0], name="x", neurons=net.inputs[0].neurons[1:])
    rest = replace(rest, shape=(len(rest.neurons),))
    model = neat_onnx.export(replace(net, inputs=(port, rest)))
    text = program(model, "C#")
    assert "new DenseTensor<float>(new int[0])" in text
    assert "{  }" not in text
