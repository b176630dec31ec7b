"""The steps that turn our sources, npm's Pyodide and published wheels into web/dist."""
