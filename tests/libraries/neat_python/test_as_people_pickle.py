"""Pickles as people make them give the library's own outputs."""

import numpy as np
import pytest
from pickle_cases import cases

from neat_onnx import load_networks

pytestmark = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")


def test_every_container_compression_attribute_and_number_is_read():
    for words, data, config, inputs, outputs in cases(72):
        nets = load_networks(data, config)
        assert len(nets) == len(outputs) or "beside" in words, words
        if len(outputs) == 1:
            (want,) = outputs.values()
            got = [net.activate(np.array(inputs)) for net in nets.values()]
            assert any(np.allclose(one, want, 1e-12, 1e-12) for one in got), words
            continue
        for key, want in outputs.items():
            got = nets[int(key)].activate(np.array(inputs))
            np.testing.assert_allclose(got, want, 1e-12, 1e-12, err_msg=words)
