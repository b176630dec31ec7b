"""Libraries whose files are text, XML or matrices: recorded cases, read and written back."""

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from support.examples.recorded import outputs, recorded_cases

from neat_onnx import NeatOnnxError, Network, NetworkError, OptionError, load_network, load_networks

ROOMS = {"sharpneat": "sharpneat", "wann": "wann", "fann": "fann"}
BOUND = 1e-12
CASES = recorded_cases(ROOMS)
QUIET = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")


def read(case: dict[str, Any]) -> Network:
    source = case["source"]
    content = source.encode() if isinstance(source, str) else source
    return load_network(content, **case.get("options", {}))


@QUIET
@pytest.mark.parametrize(("library", "path"), CASES, ids=lambda part: getattr(part, "stem", part))
def test_recorded_networks_compute_what_the_library_computes(library, path):
    case = json.loads(path.read_text("utf-8"))
    net = read(case)
    assert net.library == library
    bound = case.get("bound", BOUND)
    np.testing.assert_allclose(outputs(net, case), case["outputs"], rtol=bound, atol=bound)
    if library != "sharpneat" or "refused" in case or net.has_memory:
        refused = f"cannot be written for {library}"
        if library == "sharpneat":
            refused = "a delay" if net.has_memory else case["refused"]
        with pytest.raises(NeatOnnxError, match=refused):
            net.to_library(library)
        return
    again = load_network(net.to_library(library).encode())
    np.testing.assert_allclose(outputs(again, case), outputs(net, case), rtol=1e-14, atol=1e-14)


XML = """<?xml version="1.0" encoding="utf-8"?>
<Root>
  <ActivationFunctions>
    <Fn id="0" name="LogisticFunctionSteep" prob="0.5" />
    <Fn id="1" name="Linear" prob="0.5" />
  </ActivationFunctions>
  <Networks>
    <Network id="4" birthGen="1" fitness="1.5"><Nodes>
      <Node type="bias" id="0" fnId="0" /><Node type="in" id="1" fnId="0" />
      <Node type="out" id="2" fnId="1" /><Node type="hid" id="9" fnId="0" />
    </Nodes><Connections>
      <Con id="5" src="1" tgt="9" wght="1" /><Con id="6" src="9" tgt="2" wght="-2" />
      <Con id="7" src="0" tgt="2" wght="1.5" />%s
    </Connections></Network>
    <Network id="8" birthGen="1" fitness="2.5"><Nodes>
      <Node type="bias" id="0" /><Node type="in" id="1" /><Node type="out" id="2" />
    </Nodes><Connections><Con id="5" src="1" tgt="2" wght="1" /></Connections></Network>
  </Networks>
</Root>"""


@QUIET
def test_xml_genomes_of_sharpneat():
    nets = load_networks((XML % "").encode())
    assert list(nets) == [8, 4]
    x = np.array([[0.0], [1.0], [-1.0]])
    hidden = 1.0 / (1.0 + np.exp(-4.9 * x))
    np.testing.assert_allclose(nets[8].activate(x), hidden, rtol=1e-14)
    expected = np.clip(np.clip(1.5 - 2.0 * hidden, -1.0, 1.0), 0.0, 1.0)
    np.testing.assert_allclose(nets[4].activate(x), expected, rtol=1e-14)
    with pytest.raises(NetworkError, match="a population of 2 networks"):
        load_network((XML % "").encode())


@QUIET
def test_cyclic_xml_needs_the_number_of_updates():
    source = (XML % '<Con id="8" src="2" tgt="9" wght="1" />').encode()
    with pytest.raises(OptionError, match="the network has cycles"):
        load_network(source, genome=4)
    net = load_network(source, genome=4, cycles=2)
    out, hidden, expected = 0.0, 0.0, []
    for x in (0.5, -0.25, 1.0):
        for _ in range(2):
            before = out
            out = np.clip(1.5 - 2.0 * hidden, -1.0, 1.0)
            hidden = 1.0 / (1.0 + np.exp(-4.9 * (x + before)))
        expected.append([np.clip(out, 0.0, 1.0)])
    np.testing.assert_allclose(net.run([[0.5], [-0.25], [1.0]]), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("1 1\n\nacyclic\n\n0 1 x\n\n0 ReLU\n", "the weight should be a finite number"),
        ("1 1\n\nacyclic\n\n0 1 nan\n\n0 ReLU\n", "the weight should be a finite number"),
        ("1 1\n\nacyclic\n\n0 1 1\n\n0 Softmax\n", "unknown activation 'Softmax'"),
        ("1 1\n\nacyclic\n\n0 1 1\n\n", "no activation function"),
        ("1 1\n\nacyclic\n\n1 0 1\n\n0 ReLU\n", "a connection to the input 0"),
        ("1 1\n\nacyclic\n\n0 1 1\n1 2 1\n2 1 1\n\n0 ReLU\n", "cycle"),
        ("1 1\n\ncyclic\n\n0 1 1\n\n0 ReLU\n", "expected `acyclic` or `cyclic N`"),
        ("1 1\n\ncyclic 0\n\n0 1 1\n\n0 ReLU\n", "at least one cycle"),
        ("99999999 1\n\nacyclic\n\n\n\n0 ReLU\n", "inputs should be a small integer"),
        ("1 0\n\nacyclic\n\n0 1 1\n\n0 ReLU\n", "at least one output"),
        (
            '<!DOCTYPE a [<!ENTITY b "c">]><Network><Nodes><Node/></Nodes></Network>',
            "document type",
        ),
        (
            "<Network><Nodes><Node type='in' id='x'/></Nodes></Network>",
            "id should be a small integer",
        ),
        ("<Network><Nodes><Node", "invalid XML"),
        ("FANN_FIX_2.1\nnum_layers=2\n", "'FANN_FIX_2.1' is not read"),
        ("FANN_FLO_2.1\nnum_layers=2\n", "missing 'layer_sizes='"),
        ("0,1,1\n0,0\n", "2 numbers in a matrix of 2 rows"),
        ("0,1,1\n0,inf,5\n", "not finite"),
        ("0,1,0,1\n0,0,0,1\n0,1,0,5\n", "which does not come later"),
    ],
)
@QUIET
def test_bad_files_are_refused_by_name(source, message):
    with pytest.raises(NetworkError, match=message):
        load_network(source.encode())


@pytest.mark.parametrize(
    ("code", "steepness", "outputs"),
    [
        (5, 100.0, [-0.9051482536448664, 0.0, 0.9051482536448664, 0.9051482536448664]),
        (3, 100.0, [0.04742587317756678, 0.5, 0.9525741268224334, 0.9525741268224334]),
        (0, -2.0, [-75.0, -75.0, -75.0, 75.0]),
        (5, -1.0, [-1.0, -1.0, -1.0, 1.0]),
        (13, -300.0, [-0.5, -0.5, 0.5, 0.5]),
    ],
)
def test_fann_limits_sums_for_each_steepness(code, steepness, outputs):
    """Outputs of libfann 2.2, which computes in float32."""
    read = load_network(
        b"FANN_FLO_2.1\nnetwork_type=1\nlayer_sizes=2 1\nneurons (num_inputs, "
        b"activation_function, activation_steepness)=(0, 0, 0.0) (0, 0, 0.0) (2, %d, %.1f)\n"
        b"connections (connected_to_neuron, weight)=(0, 1.0) (1, 0.0)\n" % (code, steepness)
    )
    x = [[-6.0], [0.0], [0.25], [500.0]]
    np.testing.assert_allclose(read.activate(x).ravel(), outputs, rtol=1e-7)


def test_matrices_of_wann_tell_how_they_were_read():
    with pytest.warns(UserWarning, match="1 inputs and 1 outputs, inferred"):
        net = load_network(b"0,0,0.5,1\n0,0,2,1\n0,0,0,7\n")
    assert net.activate([1.0]).tolist() == [-2.5]
    for options in ({"inputs": 2}, {"outputs": 0}, {"inputs": -1}):
        with pytest.raises(OptionError):
            load_network(b"0,0,0.5,1\n0,0,2,1\n0,0,0,7\n", **options)


def test_importing_the_package_imports_no_room():
    code = "import sys, neat_onnx; neat_onnx.libraries(); print(*sys.modules)"
    reply = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rooms = {name for name in reply.stdout.split() if name.startswith("neat_onnx.libraries.")}
    at_once = ("library", "catalogue", "registry", "load", "neat_python")
    assert rooms == {f"neat_onnx.libraries.{name}" for name in (*at_once, "neat_python.texts")}
