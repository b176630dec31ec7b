"""The modules that the page fetches when it needs them: none of their names is out of date."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).absolute().parents[2] / "web"))

from pack import bundle

ROOT = Path(__file__).absolute().parents[2]
MODULES = [
    path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
    for path in (ROOT / "neat_onnx").rglob("*.py")
]


@pytest.mark.parametrize("pattern", bundle.ELSEWHERE)
def test_each_pattern_is_of_some_module(pattern):
    assert any(re.match(rf"neat_onnx\.(?:{pattern})\b", name) for name in MODULES)
