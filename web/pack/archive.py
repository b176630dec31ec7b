"""Zip files whose bytes depend on nothing but their content."""

import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

_MOMENT = (2020, 2, 2, 0, 0, 0)


def members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file in a zip."""
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if not name.endswith("/"):
                yield name, archive.read(name)


def write(path: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write a zip whose files are not compressed."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name, _MOMENT)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
