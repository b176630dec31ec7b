"""Files of released versions, which are read to the same genome for ever."""

import warnings
from pathlib import Path

import pytest

from neat_onnx import Network, import_model, load_network

HERE = Path(__file__).parent / "compat"
FILES = sorted(path for path in HERE.glob("*/*") if path.suffix in (".json", ".onnx"))
FORMS = {
    "irregular", "embedded", "memory", "fused", "fused_gru", "sequence", "spatial", "sparse",
    "dialect", "binary", "curves",
}  # fmt: skip


def wanted(path: Path) -> Network:
    return load_network(path.with_suffix(".network").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_is_read_to_its_genome(path: Path):
    with warnings.catch_warnings():
        repaired = path.stem == "dialect"  # its document is repaired, and a warning says so
        warnings.simplefilter("ignore" if repaired else "error")
        net = import_model(path)
    assert net == wanted(path)
    text = path.with_suffix(".network").read_text(encoding="utf-8")
    assert net.without_source().to_json() == text


def test_every_form_has_a_file():
    assert {path.stem for path in FILES} == FORMS


@pytest.mark.parametrize("form", ["irregular", "memory", "fused", "sequence", "sparse", "curves"])
def test_the_genomes_are_those_that_were_exported(form: str):
    """Not only what the reader made of them."""
    from compat import __main__ as writer

    made = {
        "irregular": writer.irregular,
        "memory": writer.memory,
        "fused": lambda: Network.lstm(2, 3, 1),
        "sequence": writer.memory,
        "sparse": writer.sparse,
        "curves": writer.curves,
    }
    (path,) = (path for path in FILES if path.stem == form)
    want = made[form]()
    net = wanted(path)
    assert net.neurons.id.tolist() == want.neurons.id.tolist()
    assert net == want
