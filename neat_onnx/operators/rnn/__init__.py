"""RNN, LSTM and GRU: one walk over the steps, one short cell each."""

from neat_onnx.operators.rnn import gru, lstm, rnn

__all__ = ["gru", "lstm", "rnn"]
