"""`python -m neat_onnx` is the command `neat-onnx`.

Python imports the package before it runs this module: only `neat-onnx` can end at Ctrl-C without a
traceback in that second (see `neat_onnx_command`).
"""

import sys

from neat_onnx.cli import main

if __name__ == "__main__":
    sys.exit(main())
