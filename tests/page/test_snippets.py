"""The programs that the page shows for a model: executed, or read by their names."""

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.examples.cases import case

import neat_onnx
from neat_onnx.page.snippets import snippets

ROOT = Path(__file__).absolute().parents[2]


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
