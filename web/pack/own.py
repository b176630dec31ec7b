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
    sources = sorted(
        path for path in (root / "neat_onnx").rglob("*") if path.is_file() and _is_source(path)
    )
    beside = [root / name for name in _BESIDE]
    if missing := [path.name for path in beside if not path.exists()]:
        raise SystemExit(f"cannot build the wheel without {', '.join(missing)}")
    parts: list[str | bytes | Path] = ["own"]
    for path in [*beside, *sources]:
        parts += [str(path.relative_to(root)), path]

    def make(target: Path) -> None:
        print("  building our wheel", flush=True)
        with tempfile.TemporaryDirectory() as scratch:
            command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", scratch]
            told = subprocess.run(command, check=False, cwd=root, capture_output=True, text=True)
            if told.returncode:
                raise SystemExit(f"hatchling could not build our wheel: {told.stderr}")
            (built,) = Path(scratch).glob("*.whl")
            if built.name != target.name:
                raise SystemExit(f"the wheel is called {built.name}, expected {target.name}")
            shutil.move(built, target)

    return cache.step(f"neat_onnx-{_version(root)}-py3-none-any.whl", parts, make)


def _is_source(path: Path) -> bool:
    return "__pycache__" not in path.parts and path.suffix != ".pyc"


def _version(root: Path) -> str:
    with (root / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])
