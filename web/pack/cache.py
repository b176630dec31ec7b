"""Results of build steps, kept outside the tree under the hash of what they were made from."""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path


def folder() -> Path:
    """The cache's folder: $XDG_CACHE_HOME/neat-onnx, or ~/.cache/neat-onnx."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "neat-onnx"


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest(parts: Iterable[str | bytes | Path]) -> str:
    """One hash of several things, in their order; of a path, its content."""
    total = hashlib.sha256()
    for part in parts:
        known = sha256(part) if isinstance(part, Path) else part
        data = known.encode() if isinstance(known, str) else known
        total.update(len(data).to_bytes(8, "big") + data)
    return total.hexdigest()


def slot(key: str, name: str) -> Path:
    """Where the result called `name` of the step with this key is, or will be."""
    return folder() / "steps" / key[:32] / name


def step(name: str, parts: Iterable[str | bytes | Path], make: Callable[[Path], None]) -> Path:
    """The file that `make(path)` writes, made only if these `parts` have not been seen before."""
    target = slot(digest(parts), name)
    if not target.exists():
        with staging(target) as temporary:
            make(temporary)
    return target


@contextlib.contextmanager
def staging(target: Path) -> Iterator[Path]:
    """A temporary path that becomes `target` when the block ends without an error."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        temporary = Path(scratch) / target.name
        yield temporary
        temporary.replace(target)
