"""Assemble web/dist, the whole site, from our sources, npm's Pyodide and published wheels.

    python web/build.py

Every download is pinned and checked by its hash; every step is cached by the hash of what goes
into it, so that a second build takes seconds and the same sources give the same bytes.
"""

import json
import shutil
import time
from pathlib import Path

from pack import compile, fetch, lock, own, split, stand_in, trim

ROOT = Path(__file__).absolute().parent.parent
WEB = ROOT / "web"
DIST = WEB / "dist"
PYODIDE = ROOT / "node_modules" / "pyodide"
ENGINE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")
PAGE = ("index.html", "style.css", "icon.svg", "app.js", "engine.js", "worker.js", "serve.js")
FOR_MICROPIP = ("micropip", "packaging")


def main() -> None:
    start = time.perf_counter()
    if not PYODIDE.exists():
        raise SystemExit("node_modules is missing Pyodide: run `npm ci --ignore-scripts` first")
    npm_lock = PYODIDE / "pyodide-lock.json"
    published = fetch.wheels(json.loads((WEB / "wheels.lock.json").read_text()), npm_lock)
    ours = own.wheel(ROOT)
    packed = {
        name: trim.wheel(path) for name, path in published.items() if name not in FOR_MICROPIP
    }
    packed["numpy"], numpy_later = split.wheels(packed["numpy"])
    sources = [*packed.values(), numpy_later, stand_in.wheel(), ours]
    library = trim.standard_library(PYODIDE / "python_stdlib.zip")
    library, *packages = compile.compiled([library, *sources], PYODIDE)

    shutil.rmtree(DIST, ignore_errors=True)
    for name in PAGE:
        copy(WEB / name, DIST / name)
    for folder, pattern in (("views", "*.js"), ("samples", "*.json")):
        for path in sorted((WEB / folder).glob(pattern)):
            copy(path, DIST / folder / path.name)
    for name in ENGINE:
        copy(PYODIDE / name, DIST / "pyodide" / name)
    copy(library, DIST / "pyodide" / library.name)
    for path in packages:
        copy(path, DIST / "packages" / path.name)
    for path in [ours, *(published[name] for name in FOR_MICROPIP)]:
        copy(path, DIST / "wheels" / path.name)
    lock.write(DIST / "pyodide" / "pyodide-lock.json", npm_lock, packages)
    write_sizes()
    total = sum(path.stat().st_size for path in DIST.rglob("*") if path.is_file())
    seconds = time.perf_counter() - start
    print(f"web/dist: {total / 1e6:.1f} MB in {seconds:.1f} s")


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def write_sizes() -> None:
    """Write the sizes of the large files, so that the page can show how much is still to come."""
    large = sorted([*(DIST / "pyodide").iterdir(), *(DIST / "packages").iterdir()])
    sizes = {path.relative_to(DIST).as_posix(): path.stat().st_size for path in large}
    (DIST / "sizes.json").write_text(json.dumps(sizes, indent=1) + "\n")


if __name__ == "__main__":
    main()
