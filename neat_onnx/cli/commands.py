"""The commands: each gets the parsed arguments, prints, and returns its exit code."""

import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import neat_onnx
from neat_onnx.cli import many
from neat_onnx.cli.arguments import chosen_import, chosen_options, chosen_ports, load, read
from neat_onnx.cli.paths import (
    BAD_INPUT,
    CHECK_SAID_NO,
    DONE,
    STANDARD,
    check_target,
    checked_library,
    of_file,
    print_line,
    read_model,
    save,
    source_of,
)
from neat_onnx.cli.wording import error_line, in_flags
from neat_onnx.codegen.generate import SUFFIXES
from neat_onnx.errors import DocumentError, ModelError, OptionError, printable, warn
from neat_onnx.libraries.library import Library, encoded
from neat_onnx.libraries.load import load_networks
from neat_onnx.libraries.registry import libraries, writer_for
from neat_onnx.model import Model
from neat_onnx.model.spelling import json_text
from neat_onnx.network import saving
from neat_onnx.network.network import Network

if TYPE_CHECKING:
    from neat_onnx.verification.report import Report

_MODELS = (".onnx", ".json")  # endings of OUT
_MOST_DRAWN = 60  # networks of a population, the best first


def export(arguments: Namespace) -> int:
    """Turn a network into ONNX."""
    if many.is_many(arguments.file, arguments.out):
        options = chosen_options(arguments)
        suffix = ".json" if options.dialect == "neataptic" else ".onnx"
        jobs = many.jobs_of(arguments, arguments.file, arguments.out, suffix)
        work = partial(_export_one, options, arguments.verify)
        return many.run(arguments, work, jobs)
    check_target(arguments, _MODELS)
    options = chosen_options(arguments)
    made = _exported(read(arguments), options, arguments.verify)
    return _write_model(arguments, *made)


def _exported(net: Network, options: Any, verified: bool) -> "tuple[Model, Report | None]":
    """The model of a network, and the report of its check."""
    model = neat_onnx.export(net, options=options)
    if not verified:
        return model, None
    runs = neat_onnx.convert(model) if options.dialect == "neataptic" else model
    return model, neat_onnx.verify(net, runs)


def _export_one(options: Any, verified: bool, job: many.Job) -> tuple[int, str]:
    """Export one of many networks."""
    model, report = _exported(job.network(), options, verified)
    if report is not None and not report.passed:
        return CHECK_SAID_NO, f"not written: {report}"
    model.save(job.path)
    return DONE, ""


def import_(arguments: Namespace) -> int:
    """Turn ONNX into a network that can evolve on."""
    library = checked_library(arguments)
    model = read_model(arguments.file)
    net = neat_onnx.import_model(model, **chosen_import(arguments))
    own = next((one for one in libraries() if one.writes and one.wrote(net)), library)
    if arguments.to is None and library.name == "neat-onnx" and own is not library:
        title = own.title or own.name
        warn(f"written as JSON of neat-onnx; --to {own.name} writes that of {title}")
    return _write_network(arguments, net, library)


def translate(arguments: Namespace) -> int:
    """Turn a network of one library into a file of another."""
    if many.is_many(arguments.file, arguments.out):
        library = writer_for(arguments.to)
        jobs = many.jobs_of(arguments, arguments.file, arguments.out, library.suffixes[0])
        return many.run(arguments, partial(_translate_one, library.name), jobs)
    library = checked_library(arguments)
    return _write_network(arguments, read(arguments), library)


def _translate_one(library: str, job: many.Job) -> tuple[int, str]:
    """Write one of many networks for a library."""
    job.network().save(job.path, library)
    return DONE, ""


def _write_network(arguments: Namespace, net: Network, library: Library) -> int:
    """Write a network for a library, and print the names of the files."""
    is_pickle = arguments.out.lower().endswith((".pkl", ".pickle"))
    config = getattr(arguments, "config", None) if is_pickle else None
    if config == STANDARD:
        raise OptionError("standard input was read already", where="--config", hint="Name a file")
    step = (arguments.time_step or None) if is_pickle else None
    if not arguments.source and library.name == "neat-onnx":
        net = net.without_source()
    files = [arguments.out]
    if arguments.out == STANDARD:
        save(encoded(net.to_library(library.name)), STANDARD)
    else:
        written = saving.save(net, arguments.out, library.name, config=config, time_step=step)
        files += [str(path) for path in written if path != Path(arguments.out)]
    facts = _network_facts(net)
    return _wrote(arguments, _in_short(facts), files=files, network=facts)


def _wrote(arguments: Namespace, said: str, **facts: Any) -> int:
    """Print the names of the files that were written, and what is in them."""
    files = facts.get("files", [arguments.out])
    done = f"wrote {' and '.join(map(printable, files))}: {said}"
    _tell(arguments, {"file": arguments.out} | facts, [done])
    return DONE


def code(arguments: Namespace) -> int:
    """Print a network as C, C++, C#, GDScript, JavaScript or Python, without a runtime."""
    check_target(arguments, None if arguments.language else tuple(SUFFIXES))
    net = read(arguments)
    language = arguments.language or SUFFIXES.get(Path(arguments.out).suffix.lower(), "c")
    named = {"dtype": arguments.dtype, "name": arguments.name}
    text = neat_onnx.generate_code(net, language=language, **named)
    save(text.encode(), arguments.out)
    return _wrote(arguments, f"{language}, {len(text.splitlines())} lines", language=language)


def draw(arguments: Namespace) -> int:
    """Draw a network, or the networks of a population, as SVG."""
    from neat_onnx.drawing import svg  # noqa: PLC0415 (seldom needed)

    check_target(arguments, (".svg",))
    chosen = arguments.genome is not None
    nets = {arguments.genome: read(arguments)} if chosen else read(arguments, load_networks)
    shown = dict(islice(nets.items(), _MOST_DRAWN))
    if len(nets) == 1:
        (net,) = nets.values()
        text, said = svg.to_svg(net), _in_short(_network_facts(net))
    else:
        text = svg.small_multiples({f"genome {genome}": net for genome, net in shown.items()})
        said = f"{len(shown)} of {len(nets)} networks"
    save(text.encode(), arguments.out)
    return _wrote(arguments, said, networks=len(shown))


def convert(arguments: Namespace) -> int:
    """Make a model valid ONNX, or write it in the other form."""
    check_target(arguments, _MODELS)
    model = neat_onnx.convert(read_model(arguments.file))
    report = None
    if arguments.verify:
        report = neat_onnx.verify(neat_onnx.import_model(model, check=False), model)
    return _write_model(arguments, model, report)


def canonicalize(arguments: Namespace) -> int:
    """Bring a model to one simple form, whatever its age and the tool that wrote it."""
    check_target(arguments, _MODELS)
    model = neat_onnx.canonicalize(read_model(arguments.file))
    return _write_model(arguments, model)


def inspect(arguments: Namespace) -> int:
    """Say what a file is: a network or a model."""
    found = load(arguments, arguments.file)
    if isinstance(found, Network):
        sections = {"network": _network_facts(found)}
    else:
        sections = {"model": _model_facts(found)} | _imported_facts(found)
    kind = next(iter(sections))
    lines = [f"{printable(arguments.file)}: a {kind}"]
    for title, facts in sections.items():
        lines += [f"  {title}"] if len(sections) > 1 else []
        lines += [line for key in facts for line in _rows(key, facts[key])]
    _tell(arguments, {"file": arguments.file, "kind": kind} | sections, lines)
    return DONE


def validate(arguments: Namespace) -> int:
    """Say what is wrong with models."""
    code, documents, lines = DONE, [], []
    for path in arguments.file:
        try:
            with of_file(path):
                findings = neat_onnx.validate(source_of(path), arguments.profile)
        except DocumentError as error:
            code = BAD_INPUT
            print_line(error_line(error), sys.stderr)
            continue
        wrong = any(finding.severity == "error" for finding in findings)
        code = max(code, CHECK_SAID_NO if wrong else DONE)
        documents.append(
            {"file": path, "valid": not wrong, "findings": [f.model_dump() for f in findings]}
        )
        for found in findings:
            advice = f". {found.hint}" if found.hint else ""
            what = f"{found.severity}: {found.code}: {found.message} ({found.where}){advice}"
            lines.append(f"{printable(path)}: {what}")
        lines += [] if wrong else [f"{printable(path)}: valid"]
    _tell(arguments, documents, lines)
    return code


def verify(arguments: Namespace) -> int:
    """Compare a network with its model on samples."""
    names = ("samples", "seed", "runtime")
    checking = {name: getattr(arguments, name) for name in names} | chosen_ports(arguments)
    if many.is_many(arguments.network, arguments.model):
        jobs = many.jobs_of(arguments, arguments.network, arguments.model, ".onnx")
        return many.run(arguments, partial(_verify_one, checking), jobs, writes=False)
    net, model = read(arguments), read_model(arguments.model)
    return _tell_report(arguments, neat_onnx.verify(net, model, **checking))


def _verify_one(checking: dict[str, Any], job: many.Job) -> tuple[int, str]:
    """Compare one of many networks with its model."""
    report = neat_onnx.verify(job.network(), read_model(str(job.path)), **checking)
    return (DONE, "") if report.passed else (CHECK_SAID_NO, str(report))


def diff(arguments: Namespace) -> int:
    """Say which genes of two networks differ, and by how much their outputs do."""
    found = (load(arguments, path) for path in (arguments.file, arguments.other))
    report = neat_onnx.diff(*found, samples=arguments.samples, seed=arguments.seed)
    _tell(arguments, report.model_dump(), str(report).splitlines())
    return DONE if report.is_empty else CHECK_SAID_NO


def certify(arguments: Namespace) -> int:
    """Compare a network with its model, and write that down so that others can repeat it."""
    check_target(arguments, (".json",))
    certificate = neat_onnx.certify(
        read(arguments),
        read_model(arguments.model),
        samples=arguments.samples,
        seed=arguments.seed,
        runtimes=arguments.runtime or ["reference"],
    )
    passed = certificate.verdict != "different"
    if passed:
        save(certificate.to_json().encode(), arguments.out)
    name = printable(arguments.out)
    done = f"wrote {name}: {certificate.verdict}" if passed else f"{name} is not written: different"
    _tell(arguments, certificate.model_dump(mode="json"), [done])
    return DONE if passed else CHECK_SAID_NO


def replay(arguments: Namespace) -> int:
    """Repeat the comparison of a certificate, and say what is not as it says."""
    from neat_onnx.verification.certificate import (  # noqa: PLC0415 (seldom needed)
        CertificateMismatch,
        load_certificate,
    )

    source = source_of(arguments.certificate)
    net, model = read(arguments), read_model(arguments.model)
    try:
        with of_file(arguments.certificate):
            certificate = load_certificate(source)
        return _tell_report(arguments, neat_onnx.replay(certificate, net, model))
    except CertificateMismatch as error:
        _tell(arguments, {"passed": False, "why": str(error)}, [f"DIFFERENT: {error}"])
        return CHECK_SAID_NO


def schema(arguments: Namespace) -> int:
    """Print one of the JSON Schemas."""
    print(json_text(neat_onnx.json_schema(arguments.name)))
    return DONE


def _write_model(arguments: Namespace, model: Model, report: "Report | None" = None) -> int:
    """Write a model unless a report says no, and print the name of the file."""
    written, encoding = report is None or report.passed, getattr(arguments, "encoding", None)
    if written and arguments.out == STANDARD:
        text = model.to_json(encoding=encoding, spelling=arguments.spelling)
        save(text.encode(), STANDARD)
    elif written:
        model.save(arguments.out, encoding, arguments.spelling)
    lines = [str(report)] if report else []
    done = f"wrote {printable(arguments.out)}: {_in_short(_model_facts(model))}"
    lines.append(
        done if written else f"{printable(arguments.out)} is not written: the check said no"
    )
    found = {"file": arguments.out, "written": written, "model": _model_facts(model)}
    _tell(arguments, found | {"report": report and report.model_dump()}, lines)
    return DONE if written else CHECK_SAID_NO


def _tell_report(arguments: Namespace, report: "Report") -> int:
    """Print a report, and return the exit code that it stands for."""
    _tell(arguments, report.model_dump(), [str(report)])
    return DONE if report.passed else CHECK_SAID_NO


def _tell(arguments: Namespace, document: Any, lines: Iterable[str]) -> None:
    """Print the document with --json, else the lines; beside a result on standard output."""
    stream = sys.stderr if getattr(arguments, "out", None) == STANDARD else sys.stdout
    for line in [json_text(document)] if arguments.json else lines:
        print_line(line, stream)


def _network_facts(net: Network) -> dict[str, Any]:
    return neat_onnx.summary(net).model_dump()


def _imported_facts(model: Model) -> dict[str, dict[str, Any]]:
    """The network that a model computes, or all that stands in the way of one."""
    try:
        return {"network": _network_facts(neat_onnx.import_model(model))}
    except ModelError as error:
        obstacles = list(error.obstacles) or [error.message]
        return {"no network": {"obstacles": obstacles, "hint": ". ".join(in_flags(error.hints))}}


def _model_facts(model: Model) -> dict[str, Any]:
    graph = model.graph

    def types(values: Iterable[Any]) -> dict[str, str]:
        shapes = {
            each.name: "?" if each.shape is None else ", ".join(map(str, each.shape))
            for each in values
        }
        return {each.name: f"{each.elem_type.name} [{shapes[each.name]}]" for each in values}

    return {
        "producer": f"{model.producer_name} {model.producer_version}".strip(),
        "opset": model.opset,
        "ir_version": model.ir_version,
        "inputs": types(graph.inputs),
        "outputs": types(graph.outputs),
        "nodes": len(graph.node),
        "operators": dict(sorted(Counter(node.op_type for node in graph.node).items())),
        "initializers": len(graph.initializer),
        "metadata": sorted(model.metadata),
    }


def _in_short(facts: dict[str, Any]) -> str:
    counts = ("neurons", "connections", "levels", "nodes", "initializers")
    said = [
        f"{facts[key]} {key if facts[key] != 1 else key.removesuffix('s')}"
        for key in counts
        if key in facts
    ]
    return ", ".join([*said, *([f"opset {facts['opset']}"] if "opset" in facts else [])])


def _rows(key: str, value: Any) -> list[str]:
    """A fact in a line; obstacles, which are whole sentences, in one each."""
    texts = [_text(each) for each in value] if key == "obstacles" else [_text(value)]
    title = "disabled genes" if key == "disabled" else key.replace("_", " ")
    titles = [title, *[""] * len(texts)]
    return [f"    {title:<14} {text}" for title, text in zip(titles, texts, strict=False)]


def _text(value: Any) -> str:
    """A fact for people: one line, whatever names it holds."""
    if isinstance(value, dict):
        return printable(", ".join(f"{key} {_text(entry)}" for key, entry in value.items())) or "-"
    if isinstance(value, list):
        return printable(", ".join(map(str, value))) or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value in (None, "") else printable(str(value))
