"""What stands beside the page: the documentation, the second runtime, and the service worker."""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from pack import bundle

_LEFT_OUT = ("sitemap.xml*", "404.html", "**/*.map", "assets/javascripts/lunr")
_MODULE = "ort.wasm.bundle.min.mjs"  # one thread, no graphics card
_WASM = "ort-wasm-simd-threaded.wasm"
_PAGE = "index.html"
_NOT_KEPT = ("wheels/",)  # for pages of others


def documentation(root: Path, target: Path) -> None:
    """Build docs/ into static pages, by MkDocs; they load nothing from another host.

    Raises:
        SystemExit: MkDocs refuses it, for example because of a link that leads nowhere.
    """
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict"]
    command += ["--config-file", str(root / "mkdocs.yml"), "--site-dir", str(target)]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    if subprocess.run(command, check=False, cwd=root, env=quiet).returncode:
        raise SystemExit("the documentation could not be built")
    for pattern in _LEFT_OUT:  # dates, other hosts' addresses, languages other than English
        for path in target.glob(pattern):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def runtime(target: Path, package: Path) -> None:
    """Write onnxruntime-web, as an npm package has it, and a list of its files.

    Its WebAssembly is gzipped, since many servers compress nothing.
    """
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


def service_worker(site: Path, source: Path) -> None:
    """Write `sw.js`, made of `source`, into a finished site, and its version into the page."""
    files = {
        str(path.relative_to(site)): path.read_bytes()
        for path in sorted(site.rglob("*"))
        if path.is_file()
    }
    kept = {name: data for name, data in files.items() if not name.startswith(_NOT_KEPT)}
    version = hashlib.sha256(
        b"".join(name.encode() + hashlib.sha256(data).digest() for name, data in kept.items())
    ).hexdigest()[:16]
    page = kept[_PAGE].replace(b"<html ", f'<html data-version="{version}" '.encode(), 1)
    (site / _PAGE).write_bytes(page)
    hashes = {name: _integrity(data) for name, data in {**kept, _PAGE: page}.items()}
    build = json.dumps({"version": version, "files": hashes}, indent=0)
    (site / source.name).write_text(f"self.BUILD = {build};\n{source.read_text()}")


def _integrity(data: bytes) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(data).digest()).decode()}"
