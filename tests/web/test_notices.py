"""The licences of what the site ships: found in wheels, and none is shipped without."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).absolute().parents[2] / "web"))

from pack import archive, notices

ABOUT = "Metadata-Version: 2.4\nName: cat\nVersion: 1.2\nLicense-Expression: MIT\n"
BILL = {
    "components": [
        {
            "name": "whiskers",
            "version": "3",
            "author": "T. Abby",
            "licenses": [{"expression": "MIT"}],
        },
        {"name": "paw", "version": "4", "licenses": [{"license": {"id": "Zlib"}}]},
    ]
}


def wheel(folder: Path, **files: str) -> Path:
    path = folder / "cat-1.2-py3-none-any.whl"
    named = {"METADATA": ABOUT, **{name.replace("__", "/"): text for name, text in files.items()}}
    archive.write(
        path, ((f"cat-1.2.dist-info/{name}", text.encode()) for name, text in named.items())
    )
    return path


def test_licences_and_notices_of_a_wheel_wherever_they_stand(tmp_path):
    path = wheel(
        tmp_path, licenses__LICENSE="as is", licenses__src__COPYING="no cats", NOTICE="mew"
    )
    found = notices.of_wheel(path)
    assert (found.name, found.license) == ("cat 1.2", "MIT")
    assert found.texts == ["as is", "no cats", "mew"]


def test_what_is_linked_into_a_wheel_is_listed(tmp_path):
    path = wheel(tmp_path, LICENSE="as is", **{"sboms__cat.cyclonedx.json": json.dumps(BILL)})
    _, linked = notices.of_wheel(path).texts
    assert linked.splitlines()[1:] == ["    whiskers 3: MIT, by T. Abby", "    paw 4: Zlib"]


def test_a_wheel_without_a_licence_is_not_shipped(tmp_path):
    with pytest.raises(SystemExit, match="carries no licence"):
        notices.of_wheel(wheel(tmp_path, licenses__list_py="", RECORDS="LICENSE"))
