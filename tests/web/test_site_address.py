"""The picture of a link's preview: other sites ask for it by its whole address."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).absolute().parents[2] / "web"))

from build import WEB, name_site


@pytest.mark.parametrize("url", ["https://example.org/neat", "https://example.org/neat/"])
def test_the_picture_has_the_address_of_the_site(tmp_path, url):
    page = tmp_path / "index.html"
    page.write_text((WEB / "index.html").read_text())
    name_site(page, url, "wheels/own.whl")
    assert picture(page) == "https://example.org/neat/og.png"


def test_it_stays_relative_where_the_address_is_unknown(tmp_path):
    page = tmp_path / "index.html"
    page.write_text((WEB / "index.html").read_text())
    name_site(page, "", "wheels/own.whl")
    assert picture(page) == "og.png"


def picture(page: Path) -> str:
    found = re.search(r'<meta property="og:image" content="([^"]*)">', page.read_text())
    assert found is not None
    return found[1]
