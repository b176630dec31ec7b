"""A user's own configuration for a written genome: each rate and option of it kept.

It is changed where the network needs it, and completed where a version of neat-python would refuse
it: up to 0.92 many items may be left out, from 1.0 on none of these.
"""

import configparser
import io

from neat_onnx.errors import DocumentError, OptionError, warn
from neat_onnx.libraries.neat_python.draft import Draft
from neat_onnx.libraries.neat_python.versions import EXPONENTIAL, NEWER, Version

_NUMBERS = {f"{name}_init_type": "gaussian" for name in ("bias", "response", "weight")}
_DEFAULTS = {
    "NEAT": {"no_fitness_termination": "False"},
    "DefaultGenome": {
        "single_structural_mutation": "false",
        "structural_mutation_surer": "default",
        "initial_connection": "unconnected",
        "enabled_rate_to_true_add": "0.0",
        "enabled_rate_to_false_add": "0.0",
        "activation_default": "random",
        "aggregation_default": "random",
        **_NUMBERS,
    },
    "DefaultStagnation": {
        "species_fitness_func": "mean",
        "max_stagnation": "15",
        "species_elitism": "0",
    },
    "DefaultReproduction": {
        "elitism": "0",
        "survival_threshold": "0.2",
        "min_species_size": "1",  # 0.92 takes 2, with which newer ones refuse many small species
    },
}
"""The values that neat-python takes for items that are left out."""
_CAME_WITH: dict[Version, dict[str, tuple[str, ...]]] = {
    NEWER: {"NEAT": ("seed",)},
    EXPONENTIAL: {
        "DefaultReproduction": (
            *("fitness_sharing", "spawn_method", "interspecies_crossover_prob"),
        ),
        "DefaultSpeciesSet": (
            *("target_num_species", "threshold_adjust_rate", "threshold_min", "threshold_max"),
        ),
    },
}
"""Items that older versions refuse."""


def ini_of_user(text: str, draft: Draft, version: Version | None) -> str:
    """Return a user's configuration, fitted to a genome and to a version of neat-python.

    Args:
        text: the INI.
        draft: the genes.
        version: of neat-python; None for a text that all versions read, but for items of newer ones
            that it has already.

    Raises:
        DocumentError: it is no configuration.
        OptionError: the genome is of an iznn, and the configuration is not.
    """
    ini = configparser.RawConfigParser()
    try:
        ini.read_string(text)
        (section, *_) = [name for name in ini.sections() if ini.has_option(name, "num_inputs")]
    except (configparser.Error, ValueError) as error:
        what = f"not a configuration of neat-python: {' '.join(str(error).split())}"
        raise DocumentError(what, where="config") from None
    changes: list[str] = []
    section = _renamed(ini, section, draft, changes)
    _fit(ini, section, draft, changes)
    added = _completed(ini, section, draft)
    for since, sections in _CAME_WITH.items():
        for place, keys in sections.items() if version is not None and version < since else ():
            gone = [key for key in keys if ini.remove_option(place, key)]
            changes += [f"{key} left out, which came with {since[0]}.{since[1]}" for key in gone]
    if changes:
        warn(f"changed in the configuration: {'; '.join(changes)}")
    if added:
        warn(
            "added to the configuration, as neat-python 1.0 and newer ask for them: "
            + ", ".join(added)
        )
    written = io.StringIO()
    ini.write(written)
    return written.getvalue()


def _completed(ini: configparser.RawConfigParser, section: str, draft: Draft) -> list[str]:
    """Add the items that newer versions ask for, and return them."""
    added = []
    for name, items in _DEFAULTS.items():
        place = section if name == "DefaultGenome" else name
        if not ini.has_section(place):
            ini.add_section(place)
        for key, value in items.items():
            if not ini.has_option(place, key) and not (draft.timed == "iznn" and place == section):
                ini.set(place, key, value)
                added.append(f"{key} = {value}")
    return added


def _renamed(
    ini: configparser.RawConfigParser, section: str, draft: Draft, changes: list[str]
) -> str:
    """The section of the genome, under the name that its class has."""
    wanted = "IZGenome" if draft.timed == "iznn" else "DefaultGenome"
    if (wanted == "IZGenome") != ini.has_option(section, "a_init_mean"):
        raise OptionError(
            f"this is not the configuration of a {wanted}",
            where="config",
            hint="Leave config out, and one is written with usual rates",
        )
    if section != wanted:
        ini.add_section(wanted)
        for key, value in ini.items(section):
            ini.set(wanted, key, value)
        ini.remove_section(section)
        changes.append(f"[{section}] is [{wanted}]")
    return wanted


def _fit(ini: configparser.RawConfigParser, section: str, draft: Draft, changes: list[str]) -> None:
    """Set the counts, the kind of network and the options of functions where they do not fit."""

    def change(key: str, value: str) -> None:
        before = ini.get(section, key, fallback="")
        if before.lower() != value.lower():
            ini.set(section, key, value)
            changes.append(f"{key} {before} is {value}")

    change("num_inputs", str(len(draft.inputs)))
    change("num_outputs", str(len(draft.outputs)))
    if not _is_either(draft):
        change("feed_forward", str(draft.feed_forward))
    for name in () if draft.timed == "iznn" else ("activation", "aggregation"):
        default = ini.get(section, f"{name}_default", fallback="random")
        own = ini.get(section, f"{name}_options", fallback="").split()
        used = sorted({getattr(node, name) for node in draft.nodes})
        if default.lower() in ("none", "random"):
            change(f"{name}_default", "random")
        else:
            used = [default, *used]
        ini.set(section, f"{name}_options", " ".join(own))
        change(f"{name}_options", " ".join(dict.fromkeys([*own, *used])))
        if not ini.has_option(section, f"{name}_mutate_rate"):
            ini.set(section, f"{name}_mutate_rate", "0.0")


def _is_either(draft: Draft) -> bool:
    """Whether the genes compute the same as a feed-forward and as a recurrent network."""
    fed = {gene.target for gene in draft.connections if gene.enabled}
    inputs = set(draft.inputs)
    reads = all(gene.source in inputs for gene in draft.connections)
    return reads and all(node.key in fed for node in draft.nodes)
