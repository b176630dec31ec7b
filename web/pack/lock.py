"""pyodide-lock.json: exactly the wheels of the page, with hashes, for loadPyodide to resolve."""

import email
import email.message
import json
import re
import zipfile
from pathlib import Path
from typing import Any

from pack import cache, split

# Loaded after the page is ready, by the worker: not a dependency as far as the lock knows.
_NOT_YET = {("neat-onnx", "onnx")}
_TOGETHER = {"onnx": [split.LATER]}


def write(target: Path, npm_lock: Path, wheels: list[Path]) -> None:
    """Write the lock for `wheels`, whose files stand in ../packages/ beside it."""
    packages = dict(_entry(path) for path in sorted(wheels))
    for entry in packages.values():
        if missing := [name for name in entry["depends"] if name not in packages]:
            raise SystemExit(f"{entry['name']} needs {', '.join(missing)}, which is not packed")
    document = {"info": json.loads(npm_lock.read_text())["info"], "packages": packages}
    target.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")


def _entry(path: Path) -> tuple[str, dict[str, Any]]:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        (info,) = (name for name in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
        metadata = email.message_from_bytes(archive.read(info))
    name = _canonical(metadata["Name"])
    code = (n for n in names if n.endswith((".py", ".pyc", ".so")) and ".dist-info/" not in n)
    entry = {
        "name": name,
        "version": metadata["Version"],
        "file_name": f"../packages/{path.name}",
        "sha256": cache.sha256(path),
        "install_dir": "site",
        "package_type": "package",
        "unvendored_tests": False,
        "imports": sorted({n.split("/")[0].split(".")[0] for n in code}),
        "depends": [need for need in _needs(metadata) if (name, need) not in _NOT_YET]
        + _TOGETHER.get(name, []),
    }
    return name, entry


def _needs(metadata: email.message.Message) -> list[str]:
    """Names of the unconditional requirements: what has a marker is for extras or other systems."""
    lines = [line for line in metadata.get_all("Requires-Dist") or [] if ";" not in line]
    return [_canonical(re.split(r"[^A-Za-z0-9._-]", line)[0]) for line in lines]


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
