"""The documentation beside the page: linked, searchable, and of this host alone."""


def test_the_documentation_is_linked_and_loads_nothing_from_elsewhere(context, address):
    page = context.new_page()
    asked, failed = set(), []
    page.on("request", lambda request: asked.add(request.url))
    page.route("**/pyodide/**", lambda route: route.abort())  # no Python is needed
    page.on("response", lambda found: found.status >= 400 and failed.append(found.url))
    page.goto(f"{address}/")
    page.get_by_role("link", name="Documentation").click()
    page.get_by_role("heading", level=1, name="neat_onnx").wait_for()
    page.goto(f"{address}/docs/architecture.html")
    page.get_by_placeholder("Search").fill("receptive")
    page.get_by_role("link", name="Glossary").first.wait_for()
    page.goto(f"{address}/docs/operators.html")
    assert page.locator("tbody tr").count() > 40
    page.goto(f"{address}/docs/index.html")
    page.get_by_title("neat_onnx").first.click()
    page.get_by_test_id("drop-zone").wait_for()
    page.close()
    assert {url for url in asked if not url.startswith((address, "blob:", "data:"))} == set()
    assert failed == []
