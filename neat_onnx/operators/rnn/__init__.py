"""RNN, LSTM and GRU: one walk over the steps, a table for each cell (`neat_onnx.network.cells`)."""

from neat_onnx.operators.rnn import fused, lift, unrolled

__all__ = ["fused", "lift", "unrolled"]
