"""Import: run the graph on neurons.

An ONNX operator is one function over tensors in numpy's terms. Run on numbers it folds them; run on
`Neurons` it makes neurons. The files, from the ground up:

- `tape.py`         `Tape`: signals, and the neurons and connections in the making (arrays).
- `pending.py`      `Pending`: elements that are factor · formula(signal) + shift, until they are
                    read; moving and joining them.
- `sums.py`, `binary.py`, `choices.py`
                    functions of these: sums, products, aggregations; quotients, powers,
                    comparisons; `where`. They take numbers as well.
- `neurons.py`      `Neurons`: `Pending` with numpy's semantics, all of these functions, and those
                    of one number (`exp`, `tanh`, …): what operators import.
- `memory.py`       state over a sequence of no fixed length: one step between registers.
- `recognition.py`  the name of an activation that a formula is.
- `resolution.py`   `resolve(tape, …)`: the tape as a `Network`: sums merge, formulas become
                    activations, registers become delays.
- `operator.py`     `@operator`: a function whose signature is the schema of an ONNX operator; the
                    functions stand in `neat_onnx/operators/`, by family.
- `interpreter.py`  `Interpreter`: binds tensors and runs node after node; functions, branches and
                    loops are calls of itself.
- `ports.py`        which axes of the inputs are the batch and time.
- `trace.py`        `trace_model(model, …) -> Lifted`: one sample, one step of an open sequence.
- `proof.py`        the model beside the network, on batches and sequences that no trace saw.
"""
