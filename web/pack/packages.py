"""What the page imports: published wheels, our own and the standard library, compiled and packed.

    cd web && python -m pack.packages       makes all of it, and keeps it for the build

Nothing here needs more than pip and hatchling, so it can go on while others are being installed.
"""

import json
import tempfile
from pathlib import Path
from typing import NamedTuple

from pack import bundle, compile, fetch, own, stand_in

FOR_MICROPIP = ("micropip", "packaging")
_ROOT = Path(__file__).absolute().parents[2]


class Packages(NamedTuple):
    """Wheels as files, and tables of compiled modules.

    Attributes:
        published: by name, as they were downloaded.
        ours: our own wheel, as it is released.
        sources: by name, the zips and wheels that the page imports from.
        tables: of the same names.
    """

    published: dict[str, Path]
    ours: Path
    sources: dict[str, Path]
    tables: dict[str, Path]


def made(root: Path) -> Packages:
    """Make the packages of the site, or take them from the cache.

    Raises:
        SystemExit: Pyodide is not installed.
    """
    pyodide = root / "node_modules" / "pyodide"
    if not pyodide.exists():
        raise SystemExit("node_modules is missing Pyodide: run `npm ci --ignore-scripts` first")
    pinned = json.loads((root / "web" / "wheels.lock.json").read_text())
    published = fetch.wheels(pinned, pyodide / "pyodide-lock.json")
    ours = own.wheel(root)
    sources = {
        path.name.split("-")[0]: path
        for name, path in published.items()
        if name not in FOR_MICROPIP
    }
    sources |= {stand_in.NAME: stand_in.package(), bundle.OURS: ours}
    sources[bundle.CPYTHON] = pyodide / "python_stdlib.zip"
    tables = compile.tables([*sources.values()], pyodide)
    return Packages(published, ours, sources, dict(zip(sources, tables, strict=True)))


if __name__ == "__main__":
    found = made(_ROOT)
    with tempfile.TemporaryDirectory() as scratch:  # the cache keeps what is compressed on the way
        bundle.write(Path(scratch) / "packages", found.sources, found.tables)
