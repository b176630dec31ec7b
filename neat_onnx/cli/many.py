"""One command for many networks: every genome of a checkpoint, every file of a folder.

    neat-onnx export neat-checkpoint-49 models/

Each is a job for a pool of processes, and writes one file, whole or not at all. A job whose file is
there is not done again, so a run that was interrupted goes on where it stopped.
"""

import os
import sys
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import neat_onnx
from neat_onnx.cli.arguments import chosen_network
from neat_onnx.cli.paths import STANDARD, of_file, print_line, source_of
from neat_onnx.cli.plugins import load_plugin
from neat_onnx.cli.wording import in_flags
from neat_onnx.errors import DocumentError, NeatOnnxError, NeatOnnxWarning, OptionError
from neat_onnx.libraries.library import BEST
from neat_onnx.libraries.registry import libraries
from neat_onnx.network.network import Network
from neat_onnx.progress import counted

DONE, CHECK_SAID_NO, BAD_INPUT = 0, 1, 2
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


@dataclass(frozen=True)
class Outcome:
    """The end of a job: an exit code, a line for people, and the texts of warnings."""

    job: Job
    code: int
    line: str
    warned: Sequence[str] = ()


Work = Callable[[Job], tuple[int, str]]
"""Does a job: its exit code, and a line for people."""


def is_many(source: str, target: str) -> bool:
    """Return whether a command is for many: its target is a folder."""
    return target != STANDARD and (
        target.endswith(("/", os.sep)) or os.path.isdir(target) or os.path.isdir(source)
    )


def add_many_flags(parser: ArgumentParser) -> None:
    """Add --jobs and --again."""
    group = parser.add_argument_group("many networks: IN is a checkpoint or a folder, OUT a folder")
    group.add_argument(
        "--jobs", type=int, metavar="N", help="how many processes. Default: one for each core."
    )
    group.add_argument(
        "--again", action="store_true", help="write files that are there already once more"
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
    reading = chosen_network(arguments)
    own = partial(Path, folder)
    if os.path.isdir(source):
        known = tuple({suffix for library in libraries() for suffix in library.suffixes})
        paths = sorted(each for each in Path(source).iterdir() if each.suffix.lower() in known)
        if not paths:
            raise DocumentError("the folder has no networks", where=source)
        names = [path.stem for path in paths]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise OptionError(f"two files are called '{twice}'", where=source)
        return [Job(path.stem, str(path), own(path.stem + suffix), reading) for path in paths]
    genome = reading.pop("genome")
    with of_file(source, config=arguments.config):
        found = neat_onnx.load_networks(source_of(source), **reading)
    if genome == BEST:
        found = dict(list(found.items())[:1])
    elif genome is not None:
        found = {genome: found[genome]} if genome in found else {}
    if not found:
        raise OptionError("there is no such genome", where=source)
    alone = list(found) == [0]
    return [
        Job(name, net, own(name + suffix), {})
        for key, net in found.items()
        for name in [Path(source).stem if alone else str(key)]
    ]


def run(arguments: Namespace, work: Work, jobs: Sequence[Job], *, writes: bool = True) -> int:
    """Do the jobs, tell each that fails, and return the exit code of the worst.

    Args:
        writes: the jobs write files; those that are there stay, unless --again is given.
    """
    if writes:
        _make_folder(jobs)
    todo = [job for job in jobs if not writes or arguments.again or not job.path.exists()]
    code, failed, warned = DONE, [], set[str]()
    outcomes = _done(work, todo, arguments.jobs, getattr(arguments, "plugin", []))
    if sys.stderr is not None and sys.stderr.isatty():
        outcomes = counted(outcomes, total=len(todo))
    for outcome in outcomes:
        code = max(code, outcome.code)
        if outcome.code:
            failed.append(outcome)
            print_line(f"{outcome.job.name}: {outcome.line}", sys.stderr)
        for text in outcome.warned:
            if text not in warned:
                warned.add(text)
                print_line(f"warning: {text} (first {outcome.job.name})", sys.stderr)
    _summary(arguments, jobs, todo, failed)
    return code


def _make_folder(jobs: Sequence[Job]) -> None:
    """Make the folder that jobs write to, which may not be the one that they read."""
    folder = jobs[0].path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        source = jobs[0].source
        same = isinstance(source, str) and Path(source).parent.samefile(folder)
    except OSError as error:
        raise DocumentError(f"cannot write there: {error.strerror}", where=str(folder)) from error
    if same:
        raise OptionError(
            "the files would stand among those that are read",
            where=str(folder),
            hint="Name another",
        )


def _summary(
    arguments: Namespace, jobs: Sequence[Job], todo: Sequence[Job], failed: Sequence[Outcome]
) -> None:
    kept = len(jobs) - len(todo)
    if arguments.json:
        import json  # noqa: PLC0415

        found = {
            "done": len(todo) - len(failed),
            "kept": kept,
            "failed": {outcome.job.name: outcome.line for outcome in failed},
        }
        print(json.dumps(found, indent=2))
        return
    parts = [f"{len(todo) - len(failed)} of {len(jobs)} done"]
    parts += [f"{kept} were there already (--again does them once more)"] if kept else []
    parts += [f"{len(failed)} failed"] if failed else []
    print(f"{jobs[0].path.parent}: {', '.join(parts)}")


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

    workers = min(count, len(jobs))
    with ProcessPoolExecutor(workers, initializer=_import, initargs=(plugins,)) as pool:
        try:
            yield from pool.map(doing, jobs, chunksize=min(_JOBS_AT_ONCE, len(jobs) // count or 1))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _import(plugins: Sequence[str]) -> None:
    """Import the plugins in a process that was not forked."""
    for plugin in plugins:
        load_plugin(plugin)


def _attempt(work: Work, job: Job) -> Outcome:
    """Do a job; an error of its own network is its outcome."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", NeatOnnxWarning)
        try:
            code, line = work(job)
        except NeatOnnxError as error:
            error.hints = in_flags(error.hints)
            code, line = BAD_INPUT, f"error: {error}"
    said = [each.message for each in caught if isinstance(each.message, NeatOnnxWarning)]
    return Outcome(job, code, line, [each.said(in_flags(each.hints)) for each in said])
