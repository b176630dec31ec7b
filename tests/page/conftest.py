"""The file that tests of the page convert."""

import json

import pytest
from support.examples.cases import case


@pytest.fixture(scope="module")
def source() -> bytes:
    return json.dumps(case("np-ff-19").document["source"]).encode()
