"""Everything in web/dist is named in licenses.txt, with the terms that it is under."""

import json
import re

from site_page import DIST, ROOT

TERMS = {
    "MPL-2.0": "Mozilla Public License Version 2.0",
    "PSF-2.0": "PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2",
    "MIT": "Permission is hereby granted, free of charge",
    "Apache-2.0": "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION",
    "BSD-3-Clause": "Neither the name",
    "BSD-2-Clause": "Redistributions in binary form must reproduce",
    "Zlib": "The origin of this software must not be misrepresented",
    "Unicode-3.0": "Data Files",
}
OURS = {"ml_dtypes", "finder", "first", "later"}  # in packages/, and no third party's


def components() -> dict[str, str]:
    """Name → version and licence, as the list at the head of the file has them."""
    head = (DIST / "licenses.txt").read_text().partition("=====")[0]
    rows = re.findall(r"^- ([^ :]+)(?: ([^:]*))?: (.+)$", head, re.MULTILINE)
    return {name.replace("-", "_"): f"{version} {license}" for name, version, license in rows}


def test_every_package_that_is_shipped_is_listed_with_its_version():
    listed = components()
    lock = json.loads((ROOT / "web" / "wheels.lock.json").read_text())
    for wheel in lock["wheels"]:
        assert listed[wheel["name"].replace("-", "_")].startswith(wheel["version"])
    files = [*(DIST / "packages").iterdir(), *(DIST / "wheels").iterdir()]
    names = [path.name for path in files]
    packed = json.loads((DIST / "pyodide" / "pyodide-lock.json").read_text())["files"]
    names += [part["path"] for file in packed for part in file["parts"]]
    assert {re.split("[./-]", name)[0] for name in names} - OURS <= set(listed)
    assert {"Pyodide", "CPython", "numpy", "neat_onnx", "onnxruntime_web"} <= set(listed)


def test_no_folder_of_the_site_is_unknown_to_this_test():
    """A new one may hold something of a third party, which belongs into the list."""
    folders = {path.name for path in DIST.iterdir() if path.is_dir()}
    assert folders <= {
        "pyodide",
        "packages",
        "wheels",
        "views",
        "live",
        "samples",
        "schema",
        "docs",
        "runtime",
    }


def test_every_licence_has_its_terms():
    text = (DIST / "licenses.txt").read_text()
    assert all(part in text for part in TERMS.values())
    names = {
        name
        for each in re.findall(r"^(?:- |    )\S+.*?: (.+?)(?:, by .*)?$", text, re.MULTILINE)
        for name in re.findall(r"[A-Z]\w*(?:-[A-Z]+)?-\d[\w.-]*|MIT|Zlib", each)
    }
    assert names <= {*TERMS, "CC0-1.0", "Unicode-DFS-2016"}
    assert "github.com/pyodide/pyodide" in text
