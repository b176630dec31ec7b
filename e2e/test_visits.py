"""Visits of one browser: what is fetched again, a snapshot that fits no more, a faulty server."""

import json
import re

import pytest
from site_page import DIST, GENOME, ROOT, NeatPage, source_text
from visits import Visit

import neat_onnx

MOVED = """async () => {
    const [name] = (await caches.keys()).filter((each) => each.includes("snapshot"));
    const cache = await caches.open(name);
    const [request] = await cache.keys();
    const data = new Uint8Array(await (await cache.match(request)).arrayBuffer());
    const length = new Uint32Array(data.buffer, 4, 1)[0];
    const places = data.subarray(8, 8 + length);
    const text = new TextDecoder().decode(places);
    const other = (_, most, last) => most + (last === "1" ? 2 : 1);
    const moved = text.replace(/(PyInit__multiarray_umath":\\d*)(\\d)/, other);
    if (moved === text) throw new Error("nothing was moved");
    places.set(new TextEncoder().encode(moved));
    await cache.put(request, new Response(data));
}"""

GIVEN_UP = """async () => {
    const [name] = (await caches.keys()).filter((each) => each.includes("snapshot"));
    return (await (await caches.open(name)).matchAll()).map(({ status }) => status);
}"""


def test_a_link_opens_in_a_browser_that_has_seen_nothing(first_visits):
    document = json.loads((ROOT / "web" / "samples" / "neataptic-ts.json").read_text())
    net = neat_onnx.load_network(document)
    assert first_visits.files == {
        "network": ("neataptic-ts.network.json", net.to_json().encode()),
        "onnx": ("neataptic-ts.onnx", neat_onnx.export(net, dtype="float64").to_bytes()),
    }
    assert first_visits.dtype == "float64"
    assert first_visits.complaints == []
    assert all(size > 0 for size in first_visits.link.sizes.values())
    stages = [stage.partition(".")[0] for stage, _ in first_visits.link.shown]
    assert stages == sorted(stages, key=["Loading Python", "Starting Python"].index)
    loading = [value for stage, value in first_visits.link.shown if stage.startswith("Loading")]
    assert loading == sorted(loading)
    assert max(loading) > 0.5


def test_the_next_visit_fetches_no_package_again_and_keeps_a_snapshot(first_visits):
    then = first_visits.then
    assert "wentOn" not in then.start  # from memory with somebody's network in it
    assert first_visits.snapshots == (0, 1)
    assert set(then.sizes) >= {name for name in first_visits.link.sizes if "numpy" in name}
    assert set(then.sizes.values()) == {0}


@pytest.fixture(scope="module")
def later(first_visits, context, address):
    """A visit after the snapshot was kept, of the page as others embed it."""
    found = Visit(context, f"{address}/#sample=xor&embed")
    found.neat.page.set_viewport_size({"width": 800, "height": 500})
    yield found
    found.neat.page.close()


def test_an_embedded_page_fits_its_frame(later):
    neat = later.neat
    assert neat.outcome(0) == "done"
    sizes = neat.page.evaluate("[document.body.scrollHeight, innerHeight]")
    assert sizes[0] <= sizes[1]
    for part in (neat["graph"], neat["slide-input-0"], neat.page.locator("#chip summary")):
        assert part.is_visible()
    assert not neat["inspector"].is_visible()


def test_later_visits_go_on_from_the_snapshot_until_it_does_not_fit(later, context, address):
    goes_on_and_computes_the_same(later)
    starts_anew(Visit(context, address))


def goes_on_and_computes_the_same(visit: Visit) -> None:
    """The snapshot is then changed, as if a library came to lie elsewhere."""
    visit.wait()
    neat = visit.neat
    assert visit.start["wentOn"]
    assert neat.follow("#sample=neat-python") == "done"  # no more embedded: with downloads
    files = {"winner.json": source_text("nts-net-lstm-2"), "genome.xml": GENOME}
    for name, data in files.items():  # the parser of the second is fetched only now
        assert neat.choose(name, data) == "done"
        assert neat.text("verdict") == "passed"
        model = neat_onnx.export(neat_onnx.load_network(data))
        assert neat.download("onnx")[1] == model.to_bytes()
    assert neat.complaints == []
    neat.page.evaluate(MOVED)


def starts_anew(visit: Visit) -> None:
    neat = visit.neat
    assert neat.page.get_attribute("body", "data-state") == "loading"
    assert neat.choose("early.json", source_text("nap-net-perceptron-4")) == "done"
    assert neat.text("verdict") == "passed"  # another worker has answered
    visit.wait()
    assert "wentOn" not in visit.start
    (complaint,) = neat.complaints
    assert "Python starts anew: PyInit__multiarray_umath is at" in complaint
    assert visit.snapshots(0) == 0
    assert neat.page.evaluate(GIVEN_UP) == [410]  # which keeps the next visit from trying again
    neat.page.close()


def test_faults_of_a_server_are_named_and_harm_nothing_else(new_context, address):
    page = new_context().new_page()
    page.route("**/packages/first.modules*", lambda route: route.fulfill(status=404))
    neat = NeatPage(page, address)
    page.wait_for_selector("body[data-state=failed]")
    assert "Could not load packages/first.modules.gz" in neat.text("error")
    page.unroute_all()
    page.route("**/*.wasm*", with_another_type)
    page.get_by_role("button", name="Try again").click()
    neat.wait_ready()
    assert not neat["error"].is_visible()

    page.route(re.compile(r"runtime/files\.json$"), lambda route: route.fulfill(status=404))
    assert neat.choose("net.json", source_text("nap-net-perceptron-4")) == "done"
    page.get_by_text("could not be asked").wait_for(state="attached")
    assert neat.text("verdict") == "passed"

    page.unroute_all()
    page.route(re.compile(r"runtime-worker\.js$"), lambda route: route.fulfill(**off_by_two()))
    assert neat.choose("net.json", source_text("nts-net-dag-24")) == "done"
    assert neat.text("verdict") == "passed"  # each runtime judges by itself
    assert neat.runtime_verdict() == "Different"


def with_another_type(route) -> None:
    """WebAssembly as servers send it that do not know its type."""
    body = (DIST / "pyodide" / "pyodide.asm.wasm").read_bytes()
    route.fulfill(body=body, content_type="application/octet-stream")


def off_by_two() -> dict[str, str]:
    """The second runtime's script with outputs that are wrong by 2."""
    given = "  return results;\n"
    more = "results.flatMap(Object.values).forEach(({ data }) => data.set(data.map((y) => y + 2)));"
    script = (DIST / "runtime-worker.js").read_text()
    assert script.count(given) == 1
    return {"content_type": "text/javascript", "body": script.replace(given, f"{more}\n{given}")}
