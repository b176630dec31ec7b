"""Our published wheel installs with micropip in an ordinary Pyodide page, not of our making."""

import json
import os
import shutil

import pytest

# From the folder that site_page has put on the path.
from pack import fetch, stand_in
from site_page import DIST, ROOT, case, served

import neat_onnx

PAGE = """<!doctype html><title>stock Pyodide</title><pre id="out">…</pre>
<script type="module">
import { loadPyodide } from "./stock/pyodide.mjs";
const out = document.getElementById("out");
try {
  const python = await loadPyodide();
  const here = (name) => new URL(name, location.href).href;
  await python.loadPackage(TOOLS.map(here));
  python.globals.set("needs", python.toPy(NEEDS.map(here)));
  python.globals.set("stand_in", STAND_IN);
  python.globals.set("wheel", here(WHEEL));
  python.globals.set("text", await (await fetch("network.json")).text());
  out.textContent = await python.runPythonAsync(`
import hashlib, micropip
micropip.add_mock_package("ml_dtypes", "VERSION", modules={"ml_dtypes": stand_in})
await micropip.install(needs)
await micropip.install(wheel)
import neat_onnx
net = neat_onnx.load_network(text.encode())
model = neat_onnx.export(net)
report = neat_onnx.verify(net, model)
f"{report.passed} {hashlib.sha256(model.to_bytes()).hexdigest()}"
`);
} catch (error) { out.textContent = String(error); }
document.body.dataset.state = "done";
</script>"""


@pytest.fixture
def stock(tmp_path):
    """Pyodide as npm has it, beside our wheel and the published ones that it needs."""
    site = tmp_path / "site"
    stock = ROOT / "node_modules" / "pyodide"
    shutil.copytree(DIST / "wheels", site / "wheels")
    os.symlink(stock, site / "stock")
    wheels = sorted(path.name for path in (site / "wheels").iterdir())
    pinned = json.loads((ROOT / "web" / "wheels.lock.json").read_text())
    published = fetch.wheels(pinned, stock / "pyodide-lock.json").values()
    needs = [path.name for path in published if path.name not in wheels]
    for path in published:
        shutil.copyfile(path, site / "wheels" / path.name)
    (ours,) = (name for name in wheels if name.startswith("neat_onnx"))
    tools = [f"wheels/{name}" for name in wheels if name != ours]
    page = PAGE.replace("TOOLS", json.dumps(tools))
    page = page.replace("NEEDS", json.dumps([f"wheels/{name}" for name in needs]))
    page = page.replace("STAND_IN", json.dumps(stand_in.SOURCE))
    page = page.replace("VERSION", stand_in.VERSION)
    (site / "index.html").write_text(page.replace("WHEEL", json.dumps(f"wheels/{ours}")))
    (site / "network.json").write_text(json.dumps(case("np-ff-19")["source"]))
    with served(site) as address:
        yield address


def test_the_wheel_installs_with_micropip(new_context, stock):
    import hashlib

    context = new_context()
    page = context.new_page()
    page.goto(f"{stock}/")
    page.wait_for_selector("body[data-state=done]", timeout=120_000)
    model = neat_onnx.export(neat_onnx.load_network(case("np-ff-19")["source"]))
    digest = hashlib.sha256(model.to_bytes()).hexdigest()
    assert page.locator("#out").inner_text() == f"True {digest}"
