"""onnxruntime-web as the page loads it, for the runtime check: its module, and its WebAssembly.

The WebAssembly is gzipped, since many servers compress nothing.
"""

import json
import shutil
from pathlib import Path

from pack import bundle

_MODULE = "ort.wasm.bundle.min.mjs"  # one thread, no graphics card
_WASM = "ort-wasm-simd-threaded.wasm"


def write(target: Path, package: Path) -> None:
    """Write the runtime of an npm package into a folder of the site, with a list of its files."""
    if not package.exists():
        raise SystemExit("node_modules is missing onnxruntime-web: run `npm ci --ignore-scripts`")
    target.mkdir(parents=True)
    shutil.copyfile(package / "dist" / _MODULE, target / _MODULE)
    wasm = bundle.gzipped(target / f"{_WASM}.gz", (package / "dist" / _WASM).read_bytes())
    files = {
        "version": json.loads((package / "package.json").read_text())["version"],
        "module": bundle.entry(target.parent, target / _MODULE),
        "wasm": bundle.entry(target.parent, wasm),
    }
    (target / "files.json").write_text(json.dumps(files, indent=1) + "\n")
