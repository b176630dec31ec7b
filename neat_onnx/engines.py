"""Exports for engines that ask for tensors of certain names, and other names for ports.

The names of ports become those of the network, so that the genome in the metadata has them; those
of its memory, which an export makes up, are put into the model afterwards. Constants and other
tensors that an engine looks for are not the network's, and import leaves them out.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from neat_onnx.errors import OptionError
from neat_onnx.genome.document import GENOME
from neat_onnx.model import DataType, MetadataEntry, Model, Tensor, ValueInfo
from neat_onnx.model.draft import Draft, copied, names_of, renamed, with_graph
from neat_onnx.model.states import (
    INITIAL_KEY,
    NEXT,
    PREVIOUS,
    STATE_IN_WORDS,
    STATE_KEY,
    pairs_in_words,
    with_stated_pairs,
)
from neat_onnx.network.network import Network
from neat_onnx.options import ExportOptions


@dataclass(frozen=True)
class _Engine:
    """What an engine takes.

    Attributes:
        title: its name.
        opset, most: the opset version to write, and the latest that it reads. None: any.
        options: others that it needs.
        input, output: the names of the only input and the only output; `{}` is the number of each
            of several inputs. None: any.
        copies: outputs that are the same as the output, by other names.
        memory: the names of the input and the output that carry the memory.
        finish: adds to the model what is no part of the network.
    """

    title: str
    opset: int | None = None
    most: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    input: str | None = None
    output: str | None = None
    copies: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()
    finish: Callable[[Model, Network], Model] = lambda model, _: model


def export_for_engine(
    net: Network, options: ExportOptions, export: Callable[[Network, ExportOptions], Model]
) -> Model:
    """Return the model of a network for the engine, and with the names, that options say.

    Args:
        net: the network.
        options: with a preset, or names.
        export: makes the model that other options describe.

    Raises:
        OptionError: the engine cannot take the network, or another option; or a name is unknown.
    """
    if options.dialect != "standard":
        where = "rename" if options.rename else "preset"
        raise OptionError(f"the {options.dialect} dialect has names of its own", where=where,
                          hint="Leave one of both out")  # fmt: skip
    engine = _ENGINES[options.preset]
    names = _names_for(engine, net, options.rename) | options.rename
    options = _options_for(engine, options).model_copy(update={"preset": "none", "rename": {}})
    if net.source is not None and GENOME not in (model := export(net, options)).metadata:
        return engine.finish(_with_names(model, names), net)  # it is the source
    model = export(_ported(net.without_source(), engine, names), options)
    ports = {port.name for port in net.inputs + net.outputs}
    others = {old: new for old, new in names.items() if old not in ports}
    if model.states:
        others |= dict(zip((PREVIOUS, NEXT), engine.memory, strict=False))
    return engine.finish(_with_names(model, others), net)


def _options_for(engine: _Engine, options: ExportOptions) -> ExportOptions:
    """The options with those that an engine needs, which may not be others."""
    given = options.model_fields_set
    for name, value in engine.options.items():
        if name in given and getattr(options, name) != value:
            raise OptionError(f"{engine.title} needs {name}={value!r}", where=name,
                              hint="Leave it out")  # fmt: skip
    if engine.opset is not None and "opset" in given and options.opset > engine.most:
        raise OptionError(f"{engine.title} reads up to opset {engine.most}", where="opset",
                          hint="Leave it out")  # fmt: skip
    opset = {} if engine.opset is None or "opset" in given else {"opset": engine.opset}
    return options.model_copy(update=dict(engine.options) | opset)


def _names_for(engine: _Engine, net: Network, given: Mapping[str, str]) -> dict[str, str]:
    """The names of ports that an engine looks for."""
    names = dict[str, str]()
    for what, ports, name in (
        ("input", net.inputs, engine.input),
        ("output", net.outputs, engine.output),
    ):
        if name is None or name in given.values():
            continue
        if len(ports) != 1 and "{}" not in name:
            example = f'rename={{"{ports[0].name}": "{name}"}}' if ports else ""
            raise OptionError(
                f"{engine.title} has one {what}, and the network {len(ports)}: "
                f"{', '.join(port.name for port in ports)}",
                where="preset",
                hint=f"Say which it is, as in {example}" if ports else None,
            )
        names |= {port.name: name.format(k) for k, port in enumerate(ports)}
    return names


def _ported(net: Network, engine: _Engine, names: Mapping[str, str]) -> Network:
    """The network with these names of ports, and the other outputs that an engine looks for."""
    inputs, outputs = (
        tuple(replace(port, name=names.get(port.name, port.name)) for port in side)
        for side in (net.inputs, net.outputs)
    )
    _check_distinct([port.name for port in inputs + outputs])
    copies = tuple(
        replace(port, name=name)
        for port in outputs
        for name in engine.copies
        if port.name == engine.output and name not in names.values()
    )
    return replace(net, inputs=inputs, outputs=outputs + copies)


def _check_distinct(names: list[str]) -> None:
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise OptionError(f"two tensors would be called '{twice}'", where="rename",
                          hint="Take another name")  # fmt: skip


def _with_names(model: Model, names: Mapping[str, str]) -> Model:
    """The model with other names of its inputs and outputs, in the metadata too."""
    if not names:
        return model
    graph = model.graph
    ports = [entry.name for entry in (*graph.inputs, *graph.outputs)]
    for name in names:
        if name not in ports:
            raise OptionError(f"the model has no input or output '{name}'", where="rename",
                              hint=f"Its ports are {', '.join(ports)}")  # fmt: skip
    _check_distinct([*(set(names_of(graph)) - names.keys()), *names.values()])
    inputs, outputs = (
        [ValueInfo.of(names.get(each.name, each.name), each.elem_type, each.shape) for each in side]
        for side in (graph.inputs, graph.outputs)
    )
    nodes = [renamed(node, names) for node in graph.node]
    named = with_graph(model, inputs=inputs, outputs=outputs, node=nodes)
    return copied(named, metadata_props=_metadata(model, names))


def _metadata(model: Model, names: Mapping[str, str]) -> list[MetadataEntry]:
    """The metadata, by other names of the tensors that it tells of."""
    found = model.metadata
    if INITIAL_KEY in found:
        found[INITIAL_KEY] = json.dumps(_by_names(json.loads(found[INITIAL_KEY]), names))
    if GENOME in found:
        genome = json.loads(found[GENOME])
        found[GENOME] = json.dumps(genome | {"ids": _by_names(genome["ids"], names)})
    if STATE_KEY in found:
        pairs = json.loads(found[STATE_KEY])
        pairs = [[names.get(name, name) for name in pair] for pair in pairs]
        found[STATE_KEY] = json.dumps(pairs)
        if STATE_IN_WORDS in found:
            found[STATE_IN_WORDS] = pairs_in_words(dict(pairs), begins=INITIAL_KEY in found)
    return [MetadataEntry(key=key, value=value) for key, value in found.items()]


def _by_names(held: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in held.items()}


# --- engines --------------------------------------------------------------------------------------


def _for_ml_agents(model: Model, net: Network) -> Model:
    """Add the constants that ML-Agents looks for; the memory is [N, 1, size] there."""
    draft = Draft(model)
    entries, inner, size = dict[str, ValueInfo](), dict[str, str](), 0
    before, after = [], []
    for state in model.states:
        if np.any(state.initial != 0.0):
            raise OptionError("ML-Agents starts every memory at 0, and this one starts elsewhere",
                              where="preset")  # fmt: skip
        batch, size = state.shape[0], state.initial.size
        for name, wish in ((state.input, "memory"), (state.output, "memory_next")):
            inner[name] = draft.name(wish)
            entries[name] = ValueInfo.of(name, DataType.FLOAT, [batch, 1, size])
        rows = draft.constant("memory_rows", [-1, size])
        layers = draft.constant("memory_layers", [-1, 1, size])
        before.append(draft.node("Reshape", [state.input, rows], [inner[state.input]]))
        after.append(draft.node("Reshape", [inner[state.output], layers], [state.output]))
    sizes = {"version_number": _ML_AGENTS_VERSION, "memory_size": size}
    shapes = {entry.name: entry.shape or () for entry in model.graph.outputs}
    if shape := shapes.get("continuous_actions"):
        sizes["continuous_action_output_shape"] = int(shape[-1] or 0)
    for name, value in sizes.items():
        tensor = Tensor.of(name, [float(value)])
        after.append(draft.node("Constant", [], [name], value=tensor))
    draft.nodes = [*before, *(renamed(node, inner) for node in model.graph.node), *after]
    outputs = [entries.get(entry.name, entry) for entry in model.graph.outputs]
    outputs += [ValueInfo.of(name, DataType.FLOAT, [1]) for name in sizes]
    inputs = [entries.get(entry.name, entry) for entry in model.graph.inputs]
    return with_graph(draft.finished(), inputs=inputs, outputs=outputs)


def _for_godot_rl(model: Model, net: Network) -> Model:
    """Add the state that Godot RL Agents gives and takes; nothing is carried by it."""
    if net.has_memory:
        text = "Godot RL Agents carries no memory from step to step, and this network has one"
        raise OptionError(text, where="preset", hint="Generate code in GDScript, which keeps it")
    draft = Draft(model)
    graph, state = model.graph, ("state_ins", "state_outs")
    entries = [
        ValueInfo.of(name, DataType.FLOAT, (graph.inputs[0].shape or ())[:1]) for name in state
    ]
    draft.nodes = [*graph.node, draft.node("Identity", state[:1], state[1:])]
    inputs, outputs = [*graph.inputs, entries[0]], [*graph.outputs, entries[1]]
    whole = with_graph(draft.finished(), inputs=inputs, outputs=outputs)
    return with_stated_pairs(whole, dict([state]))


_ML_AGENTS_VERSION = 3  # of its models, since its second release
_PLAIN = {"dtype": "float32", "sequence": False}
_ENGINES = {
    "none": _Engine("no engine"),
    "ml-agents": _Engine(
        "ML-Agents",
        opset=15,
        most=25,
        options=_PLAIN | {"state": "joined"},
        input="obs_{}",
        output="continuous_actions",
        copies=("deterministic_continuous_actions",),
        memory=("recurrent_in", "recurrent_out"),
        finish=_for_ml_agents,
    ),
    "sentis": _Engine("Sentis", opset=15, most=25, options=_PLAIN),
    "godot-rl": _Engine(
        "Godot RL Agents", opset=17, most=26, options=_PLAIN, input="obs", output="output",
        finish=_for_godot_rl,
    ),
    "onnxruntime-web": _Engine("onnxruntime-web", opset=18, most=26, options={"dtype": "float32"}),
}  # fmt: skip
