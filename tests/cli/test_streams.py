"""Standard input and output in place of files, and `translate`."""

import argparse
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import neat_onnx
from neat_onnx.cli import main
from neat_onnx.cli.parser import parser

NET = neat_onnx.Network.mlp([2, 3, 1], seed=3)


def test_standard_input_to_standard_output(process):
    options = ("--dtype", "float64", "--encoding", "raw")
    made = process("export", "-", "-", *options, input=NET.to_json().encode())
    assert made.returncode == 0, made.stderr
    assert b"raw_data" in made.stdout
    assert b"wrote -" in made.stderr
    back = process("import", "-", "-", input=made.stdout)
    assert neat_onnx.load_network(back.stdout) == NET


def test_standard_input_is_read_once(process):
    reply = process("verify", "-", "-", input=NET.to_json().encode())
    assert reply.returncode == 2
    assert reply.stderr.count(b"\n") == 1
    assert b"once only" in reply.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize(
    "arguments", [("inspect", "-"), ("translate", "-", "-"), ("--help",), ("export", "--help")]
)
def test_a_full_standard_output_is_one_line(process, arguments):
    with open("/dev/full", "wb") as full:
        reply = process(*arguments, input=NET.to_json().encode(), stdout=full)
    assert reply.returncode == 2
    assert reply.stderr.splitlines()[-1].startswith(b"error: cannot write to standard output")
    assert b"mistake" not in reply.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of a file's size here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_output_that_takes_a_part_of_the_bytes_is_one_line(process, unbuffered, tmp_path):
    import resource

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    keywords = {"env": os.environ | {"PYTHONUNBUFFERED": unbuffered}, "preexec_fn": small_files}
    with (tmp_path / "out.json").open("wb") as out:
        reply = process("translate", "-", "-", input=NET.to_json().encode(), stdout=out, **keywords)
    assert reply.returncode == 2
    assert reply.stderr.splitlines()[-1].startswith(b"error: cannot write to standard output")


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize(
    ("name", "library"), [("back.pkl", "neat-python"), ("back.net", "sharpneat")]
)
def test_the_ending_is_the_library_where_only_one_has_it(name, library, tmp_path):
    neurons = [{"id": 1, "activation": "sigmoid"}]
    net = neat_onnx.Network.build(inputs=1, outputs=[1], neurons=neurons, connections=[(0, 1, 1.5)])
    net.save(tmp_path / "net.json")
    assert main(["translate", str(tmp_path / "net.json"), str(tmp_path / name)]) == 0
    net.save(tmp_path / f"own-{name}")
    for path in (tmp_path / name, tmp_path / f"own-{name}"):
        config = path.with_suffix(".ini") if name == "back.pkl" else None
        assert neat_onnx.load_network(path, config).library.split()[0] == library


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
def test_a_configuration_is_written_beside_and_never_over_another(run):
    neat_onnx.Network.mlp([2, 1], activation="sigmoid").save("net.pkl")
    config = (run.folder / "net.ini").read_text()
    translate = ("translate", "net.pkl", "back.pkl", "--config")
    code, out, _ = run(*translate, "net.ini")
    assert code == 0
    assert out.startswith("wrote back.pkl and back.ini: ")
    assert json.loads(run(*translate, "net.ini", "--json")[1])["files"] == ["back.pkl", "back.ini"]
    before = (run.folder / "back.pkl").read_bytes()
    (run.folder / "back.ini").write_text(config + "# mine\n")
    code, out, errors = run(*translate, "back.ini")
    assert (code, out) == (2, "")
    assert errors[-1].startswith("error: the file exists, and holds something else")
    assert errors[-1].endswith("(back.ini). Rename it, or write the network under another name")
    assert (run.folder / "back.ini").read_text() == config + "# mine\n"
    assert (run.folder / "back.pkl").read_bytes() == before


def test_a_model_before_its_network_is_told(tmp_path, capsys):
    NET.save(tmp_path / "net.json")
    model = neat_onnx.export(NET)
    files = [str(tmp_path / name) for name in ("net.onnx", "net.json")]
    model.save(files[0])
    assert main(["verify", *files]) == 2
    assert capsys.readouterr().err.endswith("the network comes first\n")
    with pytest.raises(neat_onnx.DocumentError, match="the network comes first"):
        neat_onnx.certify(model, NET)


@pytest.mark.parametrize("command", ["translate", "import"])
def test_an_unknown_library_is_told_before_anything_is_read(command, tmp_path, capsys):
    assert main([command, "absent.json", str(tmp_path / "x.json"), "--to", "torch"]) == 2
    assert "there is no library named 'torch'" in capsys.readouterr().err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize(
    ("command", "code", "out", "error"),
    [
        ("export - x.onnx <&-", 2, b"", b"error: standard input is closed (-). Send it a file"),
        ("schema model >&-", 2, b"", b"error: standard output is closed"),
        ("export - - 2>&-", 0, b"{", b""),
        ("inspect missing.json 2>&-", 2, b"", b""),
        ("translate - - 2>/dev/full", 2, b"{", b""),
    ],
)
def test_streams_that_are_closed_or_full(command, code, out, error):
    line = ["sh", "-c", f"exec {sys.executable} -m neat_onnx {command}"]
    given = NET.to_json().encode()
    reply = subprocess.run(line, input=given, capture_output=True, check=False)
    assert (reply.returncode, reply.stdout[:1]) == (code, out)
    assert reply.stderr.startswith(error) and reply.stderr.count(b"\n") <= 1


ENDED = """
import os, signal, sys
from neat_onnx.cli import main

number = signal.Signals[sys.argv[1]]
os.replace = lambda *_: os.kill(os.getpid(), number)
if sys.argv[2] == "ignored":
    signal.signal(number, signal.SIG_IGN)
elif signal.getsignal(number) == signal.SIG_IGN:  # the tests run below nohup
    signal.signal(number, signal.SIG_DFL)
sys.exit(main(["export", "net.json", "net.onnx"]))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals of POSIX")
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_leaves_no_temporary_file(name, code, tmp_path):
    NET.save(tmp_path / "net.json")
    run = [sys.executable, "-c", ENDED, name, "default"]
    reply = subprocess.run(run, cwd=tmp_path, capture_output=True, check=False)
    assert (reply.returncode, reply.stdout, reply.stderr) == (code, b"", b"")
    assert os.listdir(tmp_path) == ["net.json"]


EARLY = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, *_):
        if name == "numpy":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from neat_onnx_command import main
sys.exit(main())
"""


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals of POSIX")
def test_an_interrupt_while_modules_are_imported_shows_no_traceback():
    reply = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, check=False)
    assert (reply.returncode, reply.stdout, reply.stderr) == (130, b"", b"")


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals of POSIX")
def test_a_signal_that_is_ignored_stays_so(tmp_path):
    NET.save(tmp_path / "net.json")
    run = [sys.executable, "-c", ENDED, "SIGHUP", "ignored"]
    assert subprocess.run(run, cwd=tmp_path, capture_output=True, check=False).returncode == 0


def places_of_files():
    """(command, place of a file) for each file that a command reads or writes by position."""
    (subparsers,) = [a for a in parser()._actions if isinstance(a, argparse._SubParsersAction)]
    for name, command in subparsers.choices.items():
        arguments = [a for a in command._actions if not a.option_strings and not a.choices]
        for place, argument in enumerate(arguments):
            yield name, place, [a.metavar for a in arguments], argument.metavar


PLACES = list(places_of_files())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    NET.save(folder / "net.json")
    model = neat_onnx.export(NET)
    model.save(folder / "net.onnx")
    neat_onnx.certify(NET, model, samples=4).save(folder / "certificate.json")
    return folder


def path_of(folder, command, metavar):
    """A file for an argument: `import` and its like read models, the others networks."""
    models = ("import", "convert", "canonicalize", "validate")
    names = {
        "OUT": f"{command}.{ {'code': 'c', 'draw': 'svg'}.get(command, 'json') }",
        "MODEL": "net.onnx",
        "CERTIFICATE": "certificate.json",
    }
    name = names.get(metavar, "net.onnx" if command in models else "net.json")
    return str(folder / name)


@pytest.mark.parametrize(
    ("command", "place", "metavars", "metavar"),
    PLACES,
    ids=[f"{name}-{metavar}-{place}" for name, place, _, metavar in PLACES],
)
def test_every_file_may_be_a_stream(
    command, place, metavars, metavar, folder, monkeypatch, capfdbinary
):
    paths = [path_of(folder, command, each) for each in metavars]
    assert main([command, *paths]) == 0
    told = capfdbinary.readouterr().out
    out = paths[metavars.index("OUT")] if "OUT" in metavars else None
    written = Path(out).read_bytes() if out else None
    if metavar != "OUT":
        given = Path(paths[place]).read_bytes()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
    if out:
        os.remove(out)
    monkeypatch.chdir(folder)
    assert main([command, *paths[:place], "-", *paths[place + 1 :]]) == 0
    told_now = capfdbinary.readouterr().out
    if metavar == "OUT":
        assert told_now == written
    elif out:
        assert Path(out).read_bytes() == written
        assert told_now == told
    else:
        assert told_now.replace(b"-:", paths[place].encode() + b":") == told
    assert not (folder / "-").exists()


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash here")
@pytest.mark.parametrize(
    "arguments",
    [
        "inspect <(cat net.onnx)",
        "replay <(cat certificate.json) <(cat net.json) <(cat net.onnx)",
        "export <(cat net.json) - --options <(echo {})",
    ],
)
def test_every_file_may_be_a_pipe(arguments, folder):
    command = f"exec {sys.executable} -m neat_onnx {arguments}"
    reply = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, check=False)
    assert (reply.returncode, reply.stdout[:1] != b"") == (0, True), reply.stderr


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
def test_options_and_configurations_may_be_streams(folder, monkeypatch, capfdbinary):
    def with_input(given, *arguments):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
        code = main([*arguments])
        return code, capfdbinary.readouterr()

    net = str(folder / "net.json")
    code, told = with_input(b'{"dtype": "float64"}', "export", net, "-", "--options", "-")
    assert code == 0
    assert b'"data_type": 11' in told.out
    NET.save(folder / "winner.pkl", library="neat-python")
    config = (folder / "winner.ini").read_bytes()
    code, told = with_input(config, "translate", str(folder / "winner.pkl"), "-", "--config", "-")
    assert code == 0
    assert (
        np.sort(neat_onnx.load_network(told.out).connections.weight).tolist()
        == np.sort(NET.connections.weight).tolist()
    )
    code, told = with_input(config, "inspect", "-", "--config", "-")
    assert code == 2
    assert b"once only" in told.err


def test_a_certificate_does_not_overwrite_its_network(folder, capsys):
    net, model = str(folder / "net.json"), str(folder / "net.onnx")
    assert main(["certify", net, model, net]) == 2
    assert "would overwrite" in capsys.readouterr().err
