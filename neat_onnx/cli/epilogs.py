"""The ends of the help of the commands: explanations, examples, exit codes."""

ALL = """\
examples:
  neat-onnx export winner.json winner.onnx --verify
  neat-onnx export winner.json winner.onnx.json --dtype float64
  neat-onnx import winner.onnx back.json
  neat-onnx convert old.onnx.json new.onnx
  neat-onnx inspect winner.onnx
  neat-onnx validate winner.onnx other.onnx.json --profile onnx
  neat-onnx verify winner.json winner.onnx --runtime onnxruntime
  neat-onnx code winner.json winner.c
  neat-onnx certify winner.json winner.onnx certificate.json
  neat-onnx schema network > network.schema.json

- in place of a file is standard input, or JSON on standard output.

exit codes:
  0  done, or the check passed
  1  the check said no
  2  bad input or usage: one line on standard error says what, where, and what to do
  130, 143, 129  ended by SIGINT, SIGTERM or SIGHUP: no half-written file is left
"""
OF_COMMANDS = {
    "export": """\
A network is a file of a library (`neat_onnx.libraries()` lists them), a genome pickled by
neat-python (with --config), a checkpoint (with --genome), or neat-onnx network JSON.

examples:
  neat-onnx export winner.json winner.onnx --opset 17 --no-include-metadata
  neat-onnx export winner.pkl winner.onnx --config config-feedforward
  neat-onnx export neat-checkpoint-49 best.onnx --genome 1234
  neat-onnx export neat-checkpoint-49 models/ --verify
  neat-onnx export ctrnn.json ctrnn.onnx --time-step 0.01 --advance-time 0.1

A folder OUT gets a file for every genome of a checkpoint, named by its id, or for every network of
a folder. Files that are there stay, so that a run that was interrupted goes on.
""",
    "translate": """\
Both networks compute the same; what the other library cannot compute is refused, with the neurons
named. neat_onnx.libraries() lists the libraries.

examples:
  neat-onnx translate winner.pkl winner.json --config config-feedforward
  neat-onnx translate neat-checkpoint-49 genomes/ --to neataptic-ts
""",
    "code": """\
The head of the file shows how to call it. A network with memory has a state: reset it before a
sequence, then step.

examples:
  neat-onnx code winner.json winner.c --dtype float32 --name pilot && cc -c -O2 winner.c
  neat-onnx code winner.json - --language python
""",
}
