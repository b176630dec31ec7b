"""Write constraints.txt: the newest versions of all that building and testing installs.

    python tests/generate/lock.py

Every name is a package of the registry that pip uses; extras' runtimes, which only `make runtimes`
installs, are left out.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).absolute().parents[2]
FILE = ROOT / "constraints.txt"
HEAD = "# Versions that `make setup` installs and builds with; `make lock` writes them anew.\n"


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    pins = sorted(resolved(["pip", *project["build-system"]["requires"], *installed(project)]))
    FILE.write_text(HEAD + "".join(f"{name}=={version}\n" for name, version in pins))


def installed(project: dict[str, Any]) -> list[str]:
    """What `make setup` installs, of a pyproject.toml."""
    test, dev = (project["dependency-groups"][name] for name in ("test", "dev"))
    return [*project["project"]["dependencies"], *test, *dev[1:]]  # the first includes the test's


def resolved(wanted: list[str]) -> list[tuple[str, str]]:
    """Name and version of every package that these requirements need, as pip resolves them."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run"]
    command += ["--ignore-installed", "--report", "-", *wanted]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    found = (entry["metadata"] for entry in report["install"])
    return [(re.sub(r"[-_.]+", "-", each["name"]).lower(), each["version"]) for each in found]


if __name__ == "__main__":
    main()
