"""Progress of long work, in Python and on the command line."""

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from neat_onnx.arguments import shown
from neat_onnx.errors import OptionError

Item = TypeVar("Item")
Shown = Callable[..., Iterable[Any]]

_shown: ContextVar[Shown | None] = ContextVar("_shown", default=None)


@contextmanager
def showing(progress: bool | Shown) -> Iterator[None]:
    """Show the progress of what is done inside.

    Args:
        progress: True for a line that counts on standard error; or a function that takes an
            iterable and its `total`, and passes it on, as `tqdm.tqdm` does.

    Raises:
        OptionError: it is neither.
    """
    if not (isinstance(progress, bool) or callable(progress)):
        text = f"progress is {shown(progress)}, expected True, False or a function"
        raise OptionError(text, where="progress", hint="As in progress=tqdm.tqdm")
    before = _shown.set(progress if callable(progress) else counted if progress else None)
    try:
        yield
    finally:
        _shown.reset(before)


def tracked(items: Collection[Item]) -> Iterable[Item]:
    """Pass items on, and show how many are done where that is asked for."""
    show = _shown.get()
    return items if show is None else show(items, total=len(items))


def counted(items: Iterable[Item], *, total: int) -> Iterator[Item]:
    """Pass items on, and count them in a line of standard error."""
    for number, item in enumerate(items, 1):
        yield item
        end = "\n" if number == total else ""
        print(f"\r{number} of {total}", end=end, file=sys.stderr, flush=True)
