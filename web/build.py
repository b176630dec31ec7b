"""Assemble web/dist, the whole site, from our sources, npm's Pyodide and published wheels.

    python web/build.py         SITE_URL, if it is set, is where the site will be

Every download is pinned and checked by its hash; every step is cached by the hash of what goes
into it, so that a second build takes seconds and the same sources give the same bytes.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).absolute().parent.parent))  # our package, as it is here

from pack import beside, bundle, notices, packages, pictures

ROOT = Path(__file__).absolute().parent.parent
WEB = ROOT / "web"
DIST = WEB / "dist"
PYODIDE = ROOT / "node_modules" / "pyodide"
ENGINE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")
PAGE = (
    *("index.html", "style.css", "manifest.webmanifest"),
    *("icon.svg", "icon-192.png", "icon-512.png", "icon-512-maskable.png", "og.png"),
)
PREVIEW = 'property="og:image" content="'
ENTRIES = ("app.js", "worker.js", "runtime-worker.js")  # each becomes one file with its imports
SHOWN = ("xor.json", "neataptic-ts-lstm.json", "neataptic-ts-conv.json", "cppn.json",
         "neurons-300.json", "neat-checkpoint-30")  # fmt: skip
LIBRARY = "python_stdlib.zip.gz"
FETCHED = ("pyodide.asm.wasm", LIBRARY)  # by Pyodide, the rest it imports


def main() -> None:
    start = time.perf_counter()
    published, ours, sources, tables = packages.made(ROOT)
    shutil.rmtree(DIST, ignore_errors=True)
    for name in PAGE:
        copy(WEB / name, DIST / name)
    scripts()
    shutil.copytree(ROOT / "schema", DIST / "schema")
    shutil.copytree(WEB / "samples", DIST / "samples")
    pictures.write(WEB / "samples", SHOWN, DIST)
    for name in ENGINE:
        copy(PYODIDE / name, DIST / "pyodide" / name)
    bundle.standard_library(DIST / "pyodide" / LIBRARY, tables[bundle.CPYTHON])
    for path in [ours, *(published[name] for name in packages.FOR_MICROPIP)]:
        copy(path, DIST / "wheels" / path.name)
    (DIST / "licenses.txt").write_text(notices.text(ROOT, list(published.values())))
    beside.runtime(DIST / "runtime", ROOT / "node_modules" / "onnxruntime-web")
    npm_lock = PYODIDE / "pyodide-lock.json"
    write_lock(npm_lock, bundle.write(DIST / "packages", sources, tables))
    beside.documentation(ROOT, DIST / "docs")
    name_site(DIST / "index.html", os.environ.get("SITE_URL", ""), f"wheels/{ours.name}")
    beside.service_worker(DIST, WEB / "sw.js")
    total = sum(path.stat().st_size for path in DIST.rglob("*") if path.is_file())
    seconds = time.perf_counter() - start
    print(f"web/dist: {total / 1e6:.1f} MB in {seconds:.1f} s")


def scripts() -> None:
    """Write our modules, one file an entry, readable, with their sources in maps beside them."""
    command = [
        str(ROOT / "node_modules" / "esbuild" / "bin" / "esbuild"),
        *(str(WEB / n) for n in ENTRIES),
    ]
    command += ["--bundle", "--format=esm", "--target=es2022", "--charset=utf8", "--sourcemap"]
    command += ["--external:./pyodide/*", "--external:./runtime/*", "--legal-comments=none"]
    subprocess.run([*command, f"--outdir={DIST}", "--log-level=warning"], check=True, cwd=WEB)


def name_site(page: Path, url: str, wheel: str) -> None:
    """Write where our wheel is, and the whole address of the preview's picture, if it is known."""
    text = page.read_text().replace('<a class="package">', f'<a href="{wheel}">')
    if url:
        text = text.replace(PREVIEW, f"{PREVIEW}{url.rstrip('/')}/")
    page.write_text(text)


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def write_lock(npm_lock: Path, packages: dict[str, list[dict[str, Any]]]) -> None:
    """Write Pyodide's lock without a package of its own, and beside it what our page loads."""
    lock = {
        "info": json.loads(npm_lock.read_text())["info"],
        "packages": {},
        "engine": [bundle.entry(DIST, DIST / "pyodide" / name) for name in FETCHED],
        **packages,
    }
    (DIST / "pyodide" / "pyodide-lock.json").write_text(json.dumps(lock, indent=1) + "\n")


if __name__ == "__main__":
    main()
