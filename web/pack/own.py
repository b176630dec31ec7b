"""Our own wheel, built by the same backend that a release uses."""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from pack import cache

_BESIDE = ("pyproject.toml", "README.md", "LICENSE", "neat_onnx_command.py")


def wheel(root: Path) -> Path:
    """neat_onnx as a wheel; made anew only if the package or its metadata changed."""
    sources = [root / name for name in _BESIDE]
    sources += sorted(
        path for path in (root / "neat_onnx").rglob("*") if path.is_file() and path.suffix != ".pyc"
    )
    parts: list[str | bytes | Path] = ["own"]
    for path in sources:
        parts += [str(path.relative_to(root)), path]

    def make(target: Path) -> None:
        print("  building our wheel", flush=True)
        with tempfile.TemporaryDirectory() as scratch:
            command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", scratch]
            told = subprocess.run(command, check=False, cwd=root, capture_output=True, text=True)
            if told.returncode:
                raise SystemExit(f"hatchling could not build our wheel: {told.stderr}")
            shutil.move(Path(scratch) / target.name, target)

    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    return cache.step(f"neat_onnx-{version}-py3-none-any.whl", parts, make)
