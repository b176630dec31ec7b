"""A server with faults: what is missing is named, and nothing else is harmed by it."""

import re

from site_page import DIST, NeatPage, source_text


def test_faults_of_a_server_are_named_and_harm_nothing_else(context, address):
    page = context.new_page()
    neat = visit_without_a_package(page, address)
    page.unroute_all()
    page.route("**/*.wasm*", with_another_type)
    page.get_by_role("button", name="Try again").click()
    neat.wait_ready()
    assert not neat["error"].is_visible()

    page.evaluate("globalThis.withRuntimeCheck = true")
    page.route(re.compile(r"runtime/files\.json$"), lambda route: route.fulfill(status=404))
    assert neat.choose("net.json", source_text("nap-net-perceptron-4")) == "done"
    page.get_by_text("could not be asked").wait_for(state="attached")
    assert neat.text("verdict") == "passed"

    page.unroute_all()
    page.route(re.compile(r"runtime-worker\.js$"), lambda route: route.fulfill(**off_by_two()))
    assert neat.choose("net.json", source_text("nts-net-dag-24")) == "done"
    assert neat.text("verdict") == "passed"  # each runtime judges by itself
    assert neat.runtime_verdict() == "Different"
    page.close()


FORGET = """async () => {
    const names = (await caches.keys()).filter((name) => name.includes("snapshot"));
    for (const name of names) await caches.delete(name);
}"""


def visit_without_a_package(page, address: str) -> NeatPage:
    """Visit the page while one file is missing, and be told so; from a snapshot it would start."""
    page.goto(f"{address}/docs/index.html")
    page.evaluate(FORGET)
    page.route("**/packages/first.modules*", lambda route: route.fulfill(status=404))
    neat = NeatPage(page, address)
    page.wait_for_selector("body[data-state=failed]")
    assert "Could not load packages/first.modules.gz" in neat.text("error")
    return neat


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
