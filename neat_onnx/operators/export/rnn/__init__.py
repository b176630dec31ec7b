"""RNN, LSTM and GRU: one walk over the steps, a table for each cell (`neat_onnx.network.cells`)."""
