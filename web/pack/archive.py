"""Zip files and wheels whose bytes depend on nothing but their content."""

import base64
import hashlib
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

_MOMENT = (2020, 2, 2, 0, 0, 0)


def members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file in a zip, a wheel's RECORD excepted."""
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if not name.endswith(("/", ".dist-info/RECORD")):
                yield name, archive.read(name)


def write(path: Path, files: Iterable[tuple[str, bytes]], *, packed: bool = True) -> None:
    """Write a zip; if it holds a `.dist-info`, it is a wheel and gets its RECORD."""
    record: list[str] = []
    info = ""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files:
            _add(archive, name, data, packed)
            code = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={code},{len(data)}\n")
            if name.endswith(".dist-info/METADATA"):
                info = name.split("/")[0]
        if info:
            record.append(f"{info}/RECORD,,\n")
            _add(archive, f"{info}/RECORD", "".join(record).encode(), packed)


def _add(archive: zipfile.ZipFile, name: str, data: bytes, packed: bool) -> None:
    entry = zipfile.ZipInfo(name, _MOMENT)
    entry.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, data, compresslevel=9)
