"""What export writes runs in onnxruntime-web, the runtime of browsers, as it does elsewhere."""

import itertools
import json
import subprocess
from pathlib import Path

import numpy as np
from support.examples.cases import assert_within, case
from support.examples.made import samples
from support.examples.networks import NETWORKS
from support.harness.playing import sequences
from support.harness.routes import rounding_tolerance

from neat_onnx import Network, export, verify

SCRIPT = Path(__file__).with_name("play_in_web.mjs")
STATELESS = ["nts-net-dag-24", "np-ff-19", "np-atom-agg-median", "nap-net-perceptron-4"]
SEQUENCES = ["nts-net-lstm-2", "nts-net-gate-3", "np-rec-10", "nap-net-narx-2"]


def from_corpora():
    """(model, inputs, outputs, tolerance) of each, without and with functions."""
    for name, functions in itertools.product(STATELESS + SEQUENCES, (False, True)):
        chosen = case(name)
        x, want, tolerance, _ = sequences(chosen)
        if name in SEQUENCES:
            yield export(chosen.network(), sequence=True, functions=functions), x, want, tolerance
        else:
            yield export(chosen.network(), functions=functions), x[0], want[0], tolerance[0]


def spatial():
    """The same of a network with a convolution and pools."""
    net = NETWORKS["convolution_and_pools"]
    x = samples(net)
    return export(net), x, net.activate(x), rounding_tolerance(net, x, single=True)


def test_models_and_scans_run_in_onnxruntime_web(tmp_path):
    """WebAssembly is compiled once: the optimizing compiler takes longer than all models."""
    jobs, wanted = [], []
    for k, (model, x, want, tolerance) in enumerate([*from_corpora(), spatial()]):
        path = tmp_path / f"{k}.onnx"
        model.save(path)
        jobs.append({"model": str(path), "dims": x.shape, "x": x.ravel().tolist()})
        wanted.append((want, tolerance))
    listing = tmp_path / "jobs.json"
    listing.write_text(json.dumps(jobs), encoding="utf-8")
    run = subprocess.run(
        ["node", "--liftoff-only", str(SCRIPT), str(listing)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    results = json.loads(run.stdout.splitlines()[-1])
    for result, (want, tolerance) in zip(results, wanted, strict=True):
        assert_within(np.reshape(result["y"], result["dims"]), want, tolerance)


def test_a_float64_model_is_not_fused_into_operators_of_float32():
    net = Network.mlp([2, 3, 1], activation="swish", seed=0)
    model = export(net, dtype="float64")
    assert verify(net, model, samples=8, runtime="onnxruntime-web").verdict == "equal"
