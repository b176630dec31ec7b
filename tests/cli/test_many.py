"""One command for many networks: checkpoints, populations and folders."""

import json

import pytest
from support.examples.cases import case

import neat_onnx
from neat_onnx import Network

NAMES = ["nts-net-dag-01", "nts-net-gate-1", "nts-net-mlp-1", "nts-net-dag-04", "nts-net-loop-3"]


@pytest.fixture
def population(tmp_path):
    """Five networks of NeatapticTS in one file."""
    path = tmp_path / "population.json"
    path.write_text(json.dumps([case(name).source for name in NAMES]))
    return path


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_genome_of_a_population(run, population, jobs):
    code, out, errors = run("export", population, "models/", "--verify", "--jobs", jobs)
    assert (code, errors) == (0, [])
    assert out == "models: 5 of 5 done\n"
    files = sorted((run.folder / "models").iterdir())
    assert [path.name for path in files] == [f"{k}.onnx" for k in range(5)]
    nets = neat_onnx.load_networks(population)
    for key, path in enumerate(files):
        assert path.read_bytes() == neat_onnx.export(nets[key]).to_bytes()
    assert run("verify", population, "models", "--samples", 8)[:2] == (0, "models: 5 of 5 done\n")


def test_a_run_that_was_interrupted_goes_on(run, population):
    run("export", population, "models/")
    (run.folder / "models" / "3.onnx").unlink()
    before = (run.folder / "models" / "1.onnx").stat().st_mtime_ns
    code, out, _ = run("export", population, "models/", "--opset", 13)
    assert code == 0 and out.startswith("models: 1 of 5 done, 4 were there already")
    assert (run.folder / "models" / "1.onnx").stat().st_mtime_ns == before
    assert neat_onnx.load_model(run.folder / "models" / "3.onnx").opset == 13
    code, out, _ = run("export", population, "models/", "--opset", 13, "--again", "--json")
    assert json.loads(out) == {"done": 5, "kept": 0, "failed": {}}
    assert neat_onnx.load_model(run.folder / "models" / "1.onnx").opset == 13


def test_one_genome_that_fails_leaves_the_others(run, tmp_path):
    documents = [json.loads(json.dumps(case(name).source)) for name in NAMES]
    path = tmp_path / "folder"
    path.mkdir()
    for name, document in zip("abcde", documents, strict=True):
        (path / f"{name}.json").write_text(json.dumps(document))
    (path / "c.json").write_text("{}")
    (path / "notes.txt").write_text("no network")
    code, out, errors = run("export", path, "models")
    assert code == 2 and out == "models: 4 of 5 done, 1 failed\n"
    assert len(errors) == 1 and errors[0].startswith("c: error: ")
    assert sorted(each.name[0] for each in (run.folder / "models").iterdir()) == list("abde")
    code, _, errors = run("verify", path, "models", "--samples", 4)
    assert code == 2 and len(errors) == 1  # c has no network, whatever its model


def test_a_model_of_another_network_is_named(run, population):
    run("export", population, "models/")
    neat_onnx.export(Network.mlp([2, 1], seed=1)).save(run.folder / "models" / "0.onnx")
    code, out, errors = run("verify", population, "models/", "--samples", 4)
    assert code in (1, 2) and "1 failed" in out and errors[0].startswith("0: ")


def test_many_are_translated(run, population):
    code, out, _ = run("translate", population, "back/", "--to", "neat-onnx")
    assert code == 0 and out == "back: 5 of 5 done\n"
    nets = neat_onnx.load_networks(population)
    for key, net in nets.items():
        assert neat_onnx.load_network(run.folder / "back" / f"{key}.json") == net
    assert run("translate", "back", "again/", "--to", "neat-onnx")[0] == 0
    code, _, errors = run("translate", population, "nap/", "--to", "neat-python")
    assert code == 2 and all(": error: " in line for line in errors if "warning" not in line)


def test_a_single_network_and_one_genome(run, population, network):
    assert run("export", network, "models/")[0] == 0
    assert run("export", population, "models/", "--genome", 2)[0] == 0
    assert sorted(each.name for each in (run.folder / "models").iterdir()) == ["2.onnx", "net.onnx"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["export", "{empty}", "models/"], "the folder has no networks"),
        (["export", "{population}", "models/", "--genome", "9"], "no such genome"),
        (["export", "{population}", "models/", "--jobs", "0"], "0 processes"),
        (["translate", "{full}", "{full}", "--to", "neat-onnx"], "among those that are read"),
        (["export", "{population}", "{population}/models/"], "cannot write there"),
        (["export", "none.json", "models/"], "none.json"),
        (["translate", "{population}", "models/", "--to", "nobody"], "nobody"),
    ],
)
def test_what_cannot_be_done_is_an_error(run, population, tmp_path, arguments, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    Network.mlp([1, 1]).save(tmp_path / "full" / "net.json")
    places = {name: tmp_path / name for name in ("empty", "full")} | {"population": population}
    code, _, errors = run(*[each.format(**places) for each in arguments])
    assert code == 2
    assert len(errors) == 1 and message in errors[0]


def test_two_files_of_one_name(run, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("net.json", "net.pkl"):
        (folder / name).write_text(json.dumps(case(NAMES[0]).source))
    code, _, errors = run("export", folder, "models/")
    assert code == 2 and "two files are called 'net'" in errors[0]
