"""Files in and out: what is read, what is refused, and that writing is whole or not at all."""

import contextlib
import io
import os
import stat
import threading
import tracemalloc

import pytest

from neat_onnx import files
from neat_onnx.errors import DocumentError
from neat_onnx.files import read_bytes, sniff, write_bytes


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
@pytest.mark.parametrize("act", [read_bytes, lambda path: write_bytes(path, b"x")])
def test_a_device_is_not_a_file(path, act):
    if not os.path.exists(path):
        pytest.skip("no such device here")
    with pytest.raises(DocumentError, match="not a file"):
        act(path)
    assert stat.S_ISCHR(os.stat(path).st_mode)


@pytest.mark.parametrize("act", [read_bytes, lambda path: write_bytes(path, b"x")])
def test_a_folder_is_not_a_file(tmp_path, act):
    with pytest.raises(DocumentError, match="a directory: not a file"):
        act(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_read_up_to_the_limit_and_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_MAX_BYTES", 1 << 20)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(DocumentError, match="a pipe: not a file"):
        write_bytes(pipe, b"x")  # without another end, it would wait

    def fill(content):
        with contextlib.suppress(BrokenPipeError), pipe.open("wb") as file:
            file.write(content)

    for size in (1 << 20, 1 << 22):
        content = os.urandom(size)
        writer = threading.Thread(target=fill, args=(content,))
        writer.start()
        if size > 1 << 20:
            with pytest.raises(DocumentError, match="larger than 1 GiB"):
                read_bytes(pipe)
        else:
            assert read_bytes(pipe) == content
        writer.join()


def test_a_small_file_takes_little_memory(tmp_path):
    (tmp_path / "small").write_bytes(b"x" * 1000)
    tracemalloc.start()
    try:
        assert read_bytes(tmp_path / "small") == b"x" * 1000
        assert tracemalloc.get_traced_memory()[1] < 4e6
    finally:
        tracemalloc.stop()


def test_a_stream_is_read_up_to_the_limit_and_no_further(monkeypatch):
    monkeypatch.setattr(files, "_MAX_BYTES", 3 << 20)
    whole = os.urandom(3 << 20)
    assert files.limited(io.BytesIO(whole), "-") == whole
    endless = io.BytesIO(whole * 4)
    with pytest.raises(DocumentError, match="larger than 1 GiB"):
        files.limited(endless, "-")
    assert endless.tell() <= 5 << 20


def test_links_are_written_through_and_modes_stay(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "net.json", tmp_path / "link.json"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_bytes(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    dangling = tmp_path / "dangling.json"
    dangling.symlink_to(tmp_path / "made.json")
    write_bytes(dangling, b"made")
    assert (tmp_path / "made.json").read_bytes() == b"made"


def test_a_long_name_is_written(tmp_path):
    path = tmp_path / ("n" * 250 + ".json")
    write_bytes(path, b"x")
    assert path.read_bytes() == b"x"


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_left_behind(tmp_path, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises((DocumentError, KeyboardInterrupt)):
        write_bytes(tmp_path / "net.json", b"x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b'\xef\xbb\xbf {"a": 1}', "json"),
        (b"\x80\x04\x95", "pickle"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"\x08\x08", "onnx"),
        (b'<\n  ir_version: 8,\n  opset_import: ["": 18]\n>', "onnx text"),
        (b'<opset_import: ["": 18], ir_version: 8>', "onnx text"),
        (b"# mine\nir_version: 8\n", "onnx text"),
        (b"graph {\n  name: 'g'\n}\nir_version: 8\n", "onnx text"),
        (b"<Root>\n</Root>\n", "text"),
        (b"genome:\n  id: 1\n", "text"),
        (b"graph: 5\n", "text"),
        (b"PK\x03\x04", "zip"),
        (b"[NEAT]\npop_size = 3\n", "text"),
        (b"1 2\n", "text"),
        (b"\xff\xfe", "binary"),
        (b"", "text"),
    ],
)
def test_the_kind_of_a_file(data, kind):
    assert sniff(data) == kind


def test_an_image_is_told_by_its_signature():
    with pytest.raises(DocumentError, match="this is a PNG image"):
        sniff(b"\x89PNG\r\n\x1a\n....")
