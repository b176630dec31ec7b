"""web/imported.json: the modules that the page imports until it is ready, and on ordinary visits.

    python e2e/imports.py       (after `make build`)

The build packs them by it: what is in neither list is fetched only when it is asked for. Modules of
ours in neither are listed as `seldom`: what is not in any list is new.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from browser import launch
from playwright.sync_api import Page, Worker, sync_playwright
from site_page import DIST, ROOT, NeatPage, case, served, source_text

import neat_onnx

TARGET = ROOT / "web" / "imported.json"
# Modules with code in Python: the others are not packed by it.
WRITTEN = """
import sys
def is_written(name, spec):
    origin = spec and spec.name == name and spec.origin
    return bool(origin) and (origin == "frozen" or origin.endswith((".py", ".pyc")))
names = [name for name, module in sys.modules.items()
         if is_written(name, getattr(module, "__spec__", None))]
chr(10).join(names)
"""
LIST = f"python.runPython({json.dumps(WRITTEN)}, {{ globals: python.toPy({{}}) }}).split('\\n')"
READY = "  post({ ready: { loadPyodide: loaded"  # where nothing is kept of an earlier visit
SAMPLES = ("xor", "neataptic-ts", "neataptic-ts-lstm", "neataptic", "neat-python")
SAMPLES += ("cppn", "neurons-300", "neat-checkpoint-30")
NETWORKS = ("np-ff-19", "np-rec-10", "nap-net-random-1", "nts-onnx-recurrent2-2")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        site = Path(scratch) / "site"
        shutil.copytree(DIST, site)
        worker = (site / "worker.js").read_text()
        assert worker.count(READY) == 1
        recorded = f"  Object.assign(self, {{ python, atReady: {LIST} }});\n{READY}"
        (site / "worker.js").write_text(worker.replace(READY, recorded))
        with served(site) as address, sync_playwright() as playwright:
            browser = launch(playwright)
            ready, used = recorded_in(browser.new_page(), address)
            browser.close()
    lists = {"ready": ready, "used": used - ready, "seldom": {*ours()} - used}
    lists = {name: sorted(modules) for name, modules in lists.items()}
    TARGET.write_text(json.dumps(lists, indent=0) + "\n")
    print({name: len(modules) for name, modules in lists.items()})


def recorded_in(page: Page, address: str) -> tuple[set[str], set[str]]:
    """The modules that are there when the page is ready, and after it has been used."""
    page.set_default_timeout(120_000)
    neat = NeatPage(page, address)
    neat.wait_ready()
    ready = set(engine(page).evaluate("atReady"))
    use(neat)
    return ready, set(engine(page).evaluate(LIST))


def engine(page: Page) -> Worker:
    """The worker in which Python runs."""
    (found,) = (each for each in page.workers if each.evaluate("'atReady' in self"))
    return found


def ours() -> Iterator[str]:
    """The names of our modules."""
    for path in (ROOT / "neat_onnx").rglob("*.py"):
        name = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        yield name.removesuffix(".__init__")


def use(neat: NeatPage) -> None:
    """Do what most visitors do: convert networks and models, look at everything, save files."""
    for sample in SAMPLES:
        assert neat.follow(f"#sample={sample}") == "done", sample
    for name in NETWORKS:
        assert neat.choose(f"{name}.json", source_text(name)) == "done", name
    net = neat_onnx.load_network(case("np-ff-19")["source"])
    model = neat_onnx.export(net)
    for name, data in {"net.onnx": model.to_bytes(), "net.onnx.json": model.to_json()}.items():
        content = data if isinstance(data, bytes) else data.encode()
        assert neat.choose(name, content) == "done", name
    files = {"net.json": net.to_json().encode(), "net.onnx": model.to_bytes()}
    assert neat.choose_all(files) == "done"
    for kind in ("onnx", "json", "network"):
        neat.download(kind)
    neat["download-menu"].click()
    neat.page.wait_for_timeout(2000)  # until it is known which libraries can hold the network
    neat["download-menu"].click()
    for _ in range(3):  # past the inputs
        neat.page.locator("#graph .frame").first.press("ArrowRight")
    assert neat.after(neat["prune"].click) == "done"
    neat.unfold_all()
    neat.page.locator("figure .plot").first.wait_for()


if __name__ == "__main__":
    main()
