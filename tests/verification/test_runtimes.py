"""Runtimes as judges: each that is installed runs a network; one that is not is asked for in words.

`make runtimes` runs them all on all corpora (docs/runtimes.md).
"""

import builtins
import shutil
from importlib.util import find_spec

import pytest
from networks import NETWORKS

from neat_onnx import Network, OptionError, export, verify
from neat_onnx.verification.runtimes import RUNTIMES, onnxruntime_web

PACKAGES = {"onnxruntime": "onnxruntime", "tract": "tract", "opencv": "cv2", "openvino": "openvino"}
INSTALLED = [name for name, package in PACKAGES.items() if find_spec(package)]
NET = Network.mlp([3, 5, 2], activation="tanh", seed=1)


def memory() -> Network:
    """A network of every kind of memory that a single step has: a state of two columns."""
    return Network.gru(2, 3, 1, seed=0)


@pytest.mark.parametrize("runtime", [*INSTALLED, "onnxruntime-web"])
def test_a_runtime_runs_a_network(runtime):
    report = verify(NET, export(NET), runtime=runtime)
    assert report.verdict == "equal"
    assert report.runtime.startswith(f"{runtime} ")
    assert any(char.isdigit() for char in report.runtime)


@pytest.mark.parametrize("runtime", [*INSTALLED, "onnxruntime-web"])
def test_a_runtime_plays_sequences(runtime):
    net = memory()
    assert verify(net, export(net), runtime=runtime).verdict == "equal"


def test_the_browsers_runtime_computes_in_float64_too():
    net = NETWORKS["evolved_mixed"]
    report = verify(net, export(net, dtype="float64"), runtime="onnxruntime-web", samples=8)
    assert report.verdict == "equal"
    assert report.dtype == "float64"


@pytest.mark.parametrize("runtime", PACKAGES)
def test_what_is_not_installed_is_told(runtime, monkeypatch):
    imported = builtins.__import__

    def without(name, *rest):
        if name == PACKAGES[runtime]:
            raise ImportError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(OptionError, match=f"{runtime} is not installed") as caught:
        verify(NET, export(NET), runtime=runtime)
    assert "pip install 'neat-onnx[" in caught.value.hint


def test_without_node_or_its_package_the_way_to_them_is_told(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OptionError, match="onnxruntime-web is not installed") as caught:
        verify(NET, export(NET), runtime="onnxruntime-web")
    assert "npm install onnxruntime-web" in caught.value.hint
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(OptionError, match="onnxruntime-web is not installed"):
        verify(NET, export(NET), runtime="onnxruntime-web")
    assert onnxruntime_web.shutil is shutil


def test_every_runtime_is_known():
    assert set(PACKAGES) | {"reference", "onnxruntime-web"} <= set(RUNTIMES)
