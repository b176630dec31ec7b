"""How the page starts: what it fetches, what it keeps, and what it says meanwhile."""

import shutil

from site_page import DIST, NeatPage, served

PACKAGES = """performance.getEntriesByType("resource")
  .filter(({ name }) => name.includes("/packages/"))
  .map(({ name, transferSize }) => [name, transferSize])"""
WATCH = """
window.shown = [];
document.addEventListener("DOMContentLoaded", () => {
  const look = () => {
    const bar = document.querySelector("progress");
    const stage = document.querySelector("#progress span")?.textContent;
    if (bar && document.body.dataset.state === "loading") shown.push([stage, bar.value]);
    requestAnimationFrame(look);
  };
  look();
});"""


def test_progress_only_grows_and_a_second_visit_does_not_ask_for_packages_again(
    new_context, address
):
    context = new_context()
    sizes, shown = [], []
    for _ in range(2):
        page = context.new_page()
        page.add_init_script(WATCH)
        neat = NeatPage(page, address)
        neat.wait_ready()
        sizes.append(dict(page.evaluate(PACKAGES)))
        shown.append(page.evaluate("shown"))
        assert neat.complaints == []
    context.close()
    assert_growing(shown[0])
    first, second = sizes
    assert set(second) >= {name for name in first if "numpy.modules" in name}
    assert all(size > 0 for size in first.values())
    assert set(second.values()) == {0}


def test_a_file_that_was_missing_once_is_not_missing_for_ever(new_context, tmp_path):
    site = tmp_path / "site"
    shutil.copytree(DIST, site)
    (package,) = (site / "packages").glob("pydantic.modules*")
    package.rename(tmp_path / "aside")
    context = new_context()
    with served(site) as address:
        neat = NeatPage(context.new_page(), address)
        neat.page.wait_for_selector("body[data-state=failed]")
        assert "Could not load packages/pydantic.modules.gz" in neat.text("error")
        (tmp_path / "aside").rename(package)
        NeatPage(context.new_page(), address).wait_ready()
    context.close()


def assert_growing(shown: list[list]) -> None:
    stages = [stage for stage, _ in shown]
    assert stages == sorted(stages, key=["Loading Python", "Starting Python"].index)
    loading = [value for stage, value in shown if stage == "Loading Python"]
    assert loading == sorted(loading)
    assert max(loading) > 0.5
