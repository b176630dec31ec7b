"""Published wheels: downloaded by pip at pinned versions, and believed only by their hash."""

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from pack import cache


def wheels(lock: dict[str, Any], npm_lock: Path) -> dict[str, Path]:
    """Name → wheel, of everything that the page or micropip needs and that we do not make."""
    found = {entry["name"]: _stored(entry) for entry in lock["wheels"]}
    if missing := [entry for entry in lock["wheels"] if not found[entry["name"]].exists()]:
        _download(missing, python=lock["python"], abi=lock["abi"], platform=lock["platform"])
    found |= _carried(lock["carrier"], npm_lock)
    for entry in lock["wheels"]:
        _verify(found[entry["name"]], entry["sha256"])
    return found


def _stored(entry: dict[str, str]) -> Path:
    return cache.folder() / "wheels" / entry["sha256"][:32] / entry["file"]


def _verify(path: Path, sha256: str) -> None:
    if cache.sha256(path) != sha256:
        path.unlink()
        raise SystemExit(f"{path.name} does not have the hash that is pinned; it was deleted")


def _pip(entries: list[dict[str, str]], target: Path, *flags: str) -> None:
    pins = target / "pins.txt"
    pins.write_text(
        "".join(f"{e['name']}=={e['version']} --hash=sha256:{e['sha256']}\n" for e in entries)
    )
    print("  fetching", ", ".join(f"{e['name']} {e['version']}" for e in entries), flush=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--disable-pip-version-check", "--only-binary=:all:", "--require-hashes"]
    command += ["-d", str(target), "-r", str(pins), *flags]
    if subprocess.run(command, check=False).returncode:
        raise SystemExit("pip could not download the wheels")


def _download(entries: list[dict[str, str]], *, python: str, abi: str, platform: str) -> None:
    flags = ["--python-version", python, "--implementation", "cp", "--abi", abi, "--abi", "abi3"]
    flags += ["--abi", "none", "--platform", platform, "--platform", "any"]
    with tempfile.TemporaryDirectory() as scratch:
        _pip(entries, Path(scratch), *flags)
        for entry in entries:
            with cache.staging(_stored(entry)) as path:
                path.write_bytes((Path(scratch) / entry["file"]).read_bytes())


def _carried(carrier: dict[str, Any], npm_lock: Path) -> dict[str, Path]:
    """Pyodide's own builds, which no registry has as wheels but one package carries whole.

    Pyodide's npm lock names the same files with their hashes, so they are what Pyodide published.
    """
    known = json.loads(npm_lock.read_text())["packages"]
    entries = [
        {"name": name, "file": known[name]["file_name"], "sha256": known[name]["sha256"]}
        for name in carrier["packages"]
    ]
    if not all(_stored(entry).exists() for entry in entries):
        with tempfile.TemporaryDirectory() as scratch:
            _pip([carrier], Path(scratch), "--python-version", carrier["python"])
            with zipfile.ZipFile(Path(scratch) / carrier["file"]) as archive:
                for entry in entries:
                    with cache.staging(_stored(entry)) as path:
                        path.write_bytes(archive.read(carrier["folder"] + entry["file"]))
    for entry in entries:
        _verify(_stored(entry), entry["sha256"])
    return {entry["name"]: _stored(entry) for entry in entries}
