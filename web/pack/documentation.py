"""docs/ → static pages beside the site, by MkDocs; they load nothing from another host."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

_LEFT_OUT = ("sitemap.xml*", "404.html", "**/*.map", "assets/javascripts/lunr")


def write(root: Path, target: Path) -> None:
    """Build the documentation into `target`.

    Raises:
        SystemExit: MkDocs refuses it, for example because of a link that leads nowhere.
    """
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict"]
    command += ["--config-file", str(root / "mkdocs.yml"), "--site-dir", str(target)]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    if subprocess.run(command, check=False, cwd=root, env=quiet).returncode:
        raise SystemExit("the documentation could not be built")
    for pattern in _LEFT_OUT:  # dates, other hosts' addresses, languages other than English
        for path in target.glob(pattern):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
