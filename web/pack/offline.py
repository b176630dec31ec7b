"""The service worker's list of the site's files, and the version that stands in its page."""

import base64
import hashlib
import json
from pathlib import Path

_PAGE = "index.html"
_LEFT_OUT = ("wheels/",)  # for pages of others


def write(site: Path, source: Path) -> None:
    """Write `sw.js`, made of `source`, into a finished site, and its version into the page."""
    files = {
        str(path.relative_to(site)): path.read_bytes()
        for path in sorted(site.rglob("*"))
        if path.is_file()
    }
    kept = {name: data for name, data in files.items() if not name.startswith(_LEFT_OUT)}
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
