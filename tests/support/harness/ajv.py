"""Documents checked by ajv, a validator of JSON Schema in JavaScript, in its strict mode."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "tests" / "model" / "check_schema.mjs"


def verdicts_of_ajv(folder: Path, schema: Any, documents: list[Any]) -> list[str]:
    """A line for each of the documents: "valid", or "wrong", the number of errors and the first."""
    if not (ROOT / "node_modules" / "ajv").is_dir() and "CI" not in os.environ:
        pytest.skip("ajv is not installed: npm ci")
    paths = [folder / f"{at}.json" for at in range(len(documents))]
    for path, document in zip(paths, documents, strict=True):
        path.write_text(json.dumps(document))
    (folder / "schema.json").write_text(json.dumps(schema))
    command = ["node", SCRIPT, folder / "schema.json", *paths]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert run.stderr == ""  # its strict mode has nothing to say
    return run.stdout.splitlines()
