"""`python -m neat_onnx` is the command `neat-onnx`."""

import sys

from neat_onnx.cli import main

if __name__ == "__main__":
    sys.exit(main())
