"""One command for many networks: every genome of a checkpoint, every file of a folder.

    neat-onnx export neat-checkpoint-49 models/

Each is a job for a pool of processes, and writes one file, whole or not at all. A job whose file is
there is not done again, so a run that was interrupted goes on where it stopped.
"""

import os
import sys
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import neat_onnx
from neat_onnx.cli.arguments import chosen_network
from neat_onnx.cli.paths import BAD_INPUT, STANDARD, of_file, print_line, source_of
from neat_onnx.cli.plugins import load_plugins
from neat_onnx.cli.wording import error_line, warning_line
from neat_onnx.errors import DocumentError, NeatOnnxError, NeatOnnxWarning, OptionError
from neat_onnx.libraries.library import BEST
from neat_onnx.libraries.registry import libraries
from neat_onnx.model.spelling import json_text
from neat_onnx.network.network import Network
from neat_onnx.progress import counted

_JOBS_AT_ONCE = 8  # that a process is handed
_FEW = 4  # jobs, which are done sooner than processes start


@dataclass(frozen=True)
class Job:
    """One network.

    Attributes:
        name: its id in a population, or the name of its file without the ending.
        source: the network, or the path of its file.
        path: the file to write or to compare with.
        reading: the options of `load_network`.
    """

    name: str
    source: Network | str
    path: Path
    reading: dict[str, Any]

    def network(self) -> Network:
        """Return the network.

        Raises:
            NeatOnnxError: its file holds none.
        """
        if isinstance(self.source, Network):
            return self.source
        with of_file(self.source):
            return neat_onnx.load_network(self.source, **self.reading)


class Outcome(NamedTuple):
    """The end of a job: an exit code, a line for people, and the texts of warnings."""

    name: str
    code: int
    line: str
    warned: list[str]


Work = Callable[[Job], tuple[int, str]]
"""Does a job: its exit code, and a line for people."""


def is_many(source: str, target: str) -> bool:
    """Return whether a command is for many: its target is a folder."""
    return target != STANDARD and (
        target.endswith(("/", os.sep)) or os.path.isdir(target) or os.path.isdir(source)
    )


def jobs_of(arguments: Namespace, source: str, folder: str, suffix: str) -> list[Job]:
    """Return a job for each network of a population, or of a folder.

    Args:
        source: the file or the folder that the command reads.
        folder: the folder whose files the jobs write or read.
        suffix: the ending of these files.

    Raises:
        NeatOnnxError: the source cannot be read, or two of its files have one name.
    """
    reading, own = chosen_network(arguments), Path(folder)
    if os.path.isdir(source):
        known = {suffix for library in libraries() for suffix in library.suffixes}
        networks = (each for each in Path(source).iterdir() if each.suffix.lower() in known)
        paths = sorted(networks, key=lambda each: (each.stem, each.suffix))
        if not paths:
            raise DocumentError("the folder has no networks", where=source)
        for one, two in pairwise(paths):
            if one.stem == two.stem:
                raise OptionError(f"two files are called '{one.stem}'", where=source)
        return [Job(path.stem, str(path), own / f"{path.stem}{suffix}", reading) for path in paths]
    genome = reading.pop("genome")
    with of_file(source, config=arguments.config):
        found = neat_onnx.load_networks(source_of(source), **reading)
    wanted = next(iter(found), None) if genome == BEST else genome
    found = {key: net for key, net in found.items() if wanted in (None, key)}
    if not found:
        raise OptionError("there is no such genome", where=source)
    names = {key: Path(source).stem if list(found) == [0] else str(key) for key in found}
    return [Job(names[key], net, own / f"{names[key]}{suffix}", {}) for key, net in found.items()]


def run(arguments: Namespace, work: Work, jobs: Sequence[Job], *, writes: bool = True) -> int:
    """Do the jobs, tell each that fails, and return the exit code of the worst.

    Args:
        writes: the jobs write files; those that are there stay, unless --again is given.
    """
    if writes:
        _make_folder(jobs)
    todo = [job for job in jobs if not writes or arguments.again or not job.path.exists()]
    outcomes = _done(work, todo, arguments.jobs, getattr(arguments, "plugin", []))
    if sys.stderr is not None and sys.stderr.isatty():
        outcomes = counted(outcomes, total=len(todo))
    code, failed, warned = 0, dict[str, str](), set[str]()
    for outcome in outcomes:
        code = max(code, outcome.code)
        if outcome.code:
            failed[outcome.name] = outcome.line
            print_line(f"{outcome.name}: {outcome.line}", sys.stderr)
        for text in outcome.warned:
            if text not in warned:
                warned.add(text)
                print_line(f"warning: {text} (first {outcome.name})", sys.stderr)
    done, kept = len(todo) - len(failed), len(jobs) - len(todo)
    if arguments.json:
        print(json_text({"done": done, "kept": kept, "failed": failed}))
        return code
    parts = [f"{done} of {len(jobs)} done"]
    parts += [f"{kept} were there already (--again does them once more)"] if kept else []
    parts += [f"{len(failed)} failed"] if failed else []
    print(f"{jobs[0].path.parent}: {', '.join(parts)}")
    return code


def _make_folder(jobs: Sequence[Job]) -> None:
    """Make the folder that jobs write to, which may not be the one that they read."""
    folder, source = jobs[0].path.parent, jobs[0].source
    try:
        folder.mkdir(parents=True, exist_ok=True)
        same = isinstance(source, str) and Path(source).parent.samefile(folder)
    except OSError as error:
        raise DocumentError(f"cannot write there: {error.strerror}", where=str(folder)) from error
    if same:
        what = "the files would stand among those that are read"
        raise OptionError(what, where=str(folder), hint="Name another")


def _done(
    work: Work, jobs: Sequence[Job], processes: int | None, plugins: Sequence[str]
) -> Iterator[Outcome]:
    """Yield the outcomes, in the order of the jobs."""
    count = (os.cpu_count() or 1) if processes is None else processes
    if count < 1:
        raise OptionError(f"{processes} processes", where="--jobs", hint="Give 1 or more")
    doing = partial(_attempt, work)
    if len(jobs) <= _FEW or count == 1:
        yield from map(doing, jobs)
        return
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - of many alone

    workers, at_once = min(count, len(jobs)), min(_JOBS_AT_ONCE, len(jobs) // count or 1)
    with ProcessPoolExecutor(workers, initializer=load_plugins, initargs=(plugins,)) as pool:
        try:
            yield from pool.map(doing, jobs, chunksize=at_once)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _attempt(work: Work, job: Job) -> Outcome:
    """Do a job; an error of its own network is its outcome."""
    with warnings.catch_warnings(record=True, action="ignore") as caught:
        warnings.simplefilter("always", NeatOnnxWarning)
        try:
            code, line = work(job)
        except NeatOnnxError as error:
            code, line = BAD_INPUT, error_line(error)
    said = [each.message for each in caught if isinstance(each.message, NeatOnnxWarning)]
    return Outcome(job.name, code, line, [warning_line(each) for each in said])
