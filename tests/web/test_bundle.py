"""The modules that the page imports: web/imported.json has no name twice, and few that are gone."""

import json
from itertools import combinations
from pathlib import Path

ROOT = Path(__file__).absolute().parents[2]


def test_each_module_is_in_one_list():
    lists = json.loads((ROOT / "web" / "imported.json").read_text())
    assert set(lists) == {"ready", "used", "seldom"}
    for one, other in combinations(lists.values(), 2):
        assert not set(one) & set(other)
    assert {"neat_onnx", "numpy", "pydantic"} <= {*lists["ready"], *lists["used"]}
