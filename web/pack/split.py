"""numpy in two wheels: what `import numpy` needs, and what can come while nobody waits.

Pyodide links every shared library of a wheel when it loads it, wanted or not, and a quarter of
numpy's are those of numpy.random and numpy.fft.
"""

import re
from pathlib import Path

from pack import archive, cache

LATER = "numpy-later"
_LATER_FILES = re.compile(r"numpy/(random|fft)/")


def wheels(numpy: Path) -> tuple[Path, Path]:
    """The wheel without numpy.random and numpy.fft, and a wheel of just these."""
    _, version, tags = numpy.name.split("-", 2)
    made_from: list[str | bytes | Path] = [
        "split",
        _LATER_FILES.pattern,
        Path(__file__),
        Path(archive.__file__),
        numpy,
    ]
    kept = [item for item in archive.members(numpy) if not _LATER_FILES.match(item[0])]
    moved = [item for item in archive.members(numpy) if _LATER_FILES.match(item[0])]
    info = f"{LATER.replace('-', '_')}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {LATER}\nVersion: {version}\nRequires-Dist: numpy\n"
    wheel = dict(archive.members(numpy))[f"numpy-{version}.dist-info/WHEEL"]
    moved += [(f"{info}/METADATA", metadata.encode()), (f"{info}/WHEEL", wheel)]
    return (
        cache.step(numpy.name, made_from, lambda path: archive.write(path, kept)),
        cache.step(
            f"{LATER.replace('-', '_')}-{version}-{tags}",
            [*made_from, "later"],
            lambda path: archive.write(path, moved),
        ),
    )
