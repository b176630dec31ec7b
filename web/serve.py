"""Serve web/dist on this machine.

python web/serve.py [PORT]     0 or nothing: a free port
"""

import functools
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

DIST = Path(__file__).absolute().parent / "dist"


class Handler(SimpleHTTPRequestHandler):
    """Static files with the types that modules and streamed WebAssembly need."""

    extensions_map = {  # noqa: RUF012 (the base class's own form)
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript; charset=utf-8",
        ".mjs": "text/javascript; charset=utf-8",
        ".wasm": "application/wasm",
        ".webmanifest": "application/manifest+json",
    }
    protocol_version = "HTTP/1.1"

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")  # kept, and asked about each time
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the address is all that anyone wants to read."""


def server(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """A server of `folder` on this machine only, not yet running; port 0 takes a free one.

    Raises:
        OSError: the port is taken.
    """
    return ThreadingHTTPServer(
        ("127.0.0.1", port), functools.partial(Handler, directory=str(folder))
    )


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    try:
        found = server(DIST, wanted)
    except OSError:
        raise SystemExit(f"port {wanted} is taken") from None
    print(f"http://127.0.0.1:{found.server_port}/", flush=True)
    try:
        found.serve_forever()
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main()
