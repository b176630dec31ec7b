"""The parts of generated code that all languages share: tables, functions, loops."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from neat_onnx.codegen.helpers import helper_names, helpers_of
from neat_onnx.codegen.language import (
    INDENT,
    RESERVED,
    Language,
    Reduction,
    identifier,
    quoted,
    scalar_text,
)
from neat_onnx.codegen.plan import Group, Plan
from neat_onnx.network.expression import VARIABLE
from neat_onnx.network.genes import NONE, Ints
from neat_onnx.network.port import Port

Table = npt.NDArray[np.float64] | Ints


@dataclass
class Program:
    """A plan in the words of a language, without the syntax around it.

    Attributes:
        taken: names that nothing else may have.
        functions: definitions of the activations and aggregations that the groups call.
    """

    plan: Plan
    language: Language
    taken: Iterable[str] = ()
    functions: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._named: dict[str, str] = {}
        self._used = {*RESERVED, *self.taken, *helper_names(self.language)}
        names = [port.name for port, _ in (*self.plan.inputs, *self.plan.outputs)]
        unique = [identifier(self.language.prefix + name, self._used) for name in names]
        self.input_names = unique[: len(self.plan.inputs)]
        self.output_names = unique[len(self.plan.inputs) :]
        self._calls = {id(group): self._functions_of(group) for group in self.plan.groups}

    @property
    def input_ports(self) -> list[tuple[str, tuple[Port, Ints]]]:
        """The input ports with their names in the code."""
        return list(zip(self.input_names, self.plan.inputs, strict=True))

    @property
    def output_ports(self) -> list[tuple[str, tuple[Port, Ints]]]:
        """The output ports with their names in the code."""
        return list(zip(self.output_names, self.plan.outputs, strict=True))

    @property
    def ports(self) -> list[tuple[str, tuple[Port, Ints]]]:
        """All ports, inputs first."""
        return [*self.input_ports, *self.output_ports]

    @cached_property
    def tables(self) -> dict[str, Table]:
        """The constant arrays that the loops read, by name."""
        plan = self.plan
        found: dict[str, Table] = {"BIAS": plan.bias}
        if np.any(plan.response != 1.0):
            found["RESPONSE"] = plan.response
        if len(plan.weight):
            found |= {"START": plan.start, "SOURCE": plan.source, "WEIGHT": plan.weight}
        if np.any(plan.gain != NONE):
            found["GAIN"] = plan.gain
        if len(plan.dense_weights):
            found["MATRIX"] = plan.dense_weights
        for name, (_, rows) in self.output_ports:
            if not _consecutive(rows):
                found[f"{name.upper()}_ROWS"] = rows
        rows, origins, initial = plan.registers
        if len(rows):
            found["ORIGIN"] = origins
        if np.any(initial != 0.0):
            found["INITIAL"] = initial
        return {name: values for name, values in found.items() if len(values)}

    def table_bytes(self, number: int) -> int:
        """The size of the tables, `number` bytes for each number and the least for indices."""
        return sum(
            len(values) * (number if values.dtype.kind == "f" else _index_bytes(label, values))
            for label, values in self.tables.items()
        )

    def rows_of(self, values: Table) -> str:
        """Return the elements of a table, eight to a line."""
        floats = values.dtype.kind == "f"
        texts = [self.language.number(x) if floats else str(x) for x in values.tolist()]
        rows = (", ".join(texts[k : k + 8]) for k in range(0, len(texts), 8))
        return "".join(f"{INDENT}{row},\n" for row in rows)

    @cached_property
    def description(self) -> list[str]:
        """Lines for the head of the file: the network and its ports."""
        plan = self.plan
        count = plan.input_count + len(plan.bias)
        edges = len(plan.weight) + len(plan.dense_weights)
        memory = f", {len(plan.registers[0])} values remembered" if plan.has_memory else ""
        lines = [f"A network of {count} neurons and {edges} connections{memory}.", ""]
        for kind, ports in (("input", self.input_ports), ("output", self.output_ports)):
            for name, (port, rows) in ports:
                shape = f", shape {list(port.shape)} in C order" if len(port.shape) != 1 else ""
                renamed = "" if name == port.name else f": port {quoted(port.name)}"
                lines.append(f"{kind} {name}, {len(rows)} numbers{shape}{renamed}")
        return lines

    def definitions(self, body: str) -> list[str]:
        """Return the definitions of the functions that the body and its groups call."""
        needed = helpers_of(self.language, "\n".join([*self.functions, body]))
        return [*needed, *self.functions]

    # --- statements ------------------------------------------------------------------------------

    def copy_inputs(self) -> list[str]:
        """Statements that fill the rows of the inputs."""
        lines, at = [], 0
        for name, (_, rows) in self.input_ports:
            given = self.language.given_form.format(value=f"{name}[i]")
            lines += self._loop(len(rows), [f"v[{_plus('i', at)}] = {given}"])
            at += len(rows)
        return lines

    def copy_outputs(self) -> list[str]:
        """Statements that fill the outputs."""
        lines = []
        for name, (_, rows) in self.output_ports:
            row = _plus("i", int(rows[0])) if _consecutive(rows) else f"{name.upper()}_ROWS[i]"
            lines += self._loop(len(rows), [f"{name}[i] = v[{row}]"])
        return lines

    def group_lines(self) -> list[str]:
        """Statements that compute all neurons, level by level."""
        lines, level = [], 0
        for group in self.plan.groups:
            if group.level != level:
                level = group.level
                lines.append(self.language.comment_form.format(text=f"level {level}"))
            lines += self._group(group)
        return lines

    def step_lines(self) -> list[str]:
        """Statements from `inputs` to the result, registers included.

        With several ports, `inputs` and the result are by the ports' own names.
        """
        end = self.language.end
        one_in, one_out = len(self.input_names) == 1, len(self.output_names) == 1
        lines = []
        for name, (port, rows) in self.input_ports:
            key = "" if one_in else f"[{self.language.text(port.name)}]"
            lines.append(self.language.local(name, f"inputs{key}"))
            lines.append(self.language.length_check(name, len(rows), port.name))
        lines += [*self.copy_inputs(), *self.group_lines()]
        lines += [self.language.array(name, len(rows)) for name, (_, rows) in self.output_ports]
        named = (f"{self.language.key(port.name)}: {name}" for name, (port, _) in self.output_ports)
        result = self.output_names[0] if one_out else f"{{{', '.join(named)}}}"
        return [*lines, *self.copy_outputs(), *self.register_lines(), f"return {result}{end}"]

    def register_lines(self) -> list[str]:
        """Statements that carry values over to the next step, the last register first."""
        count = len(self.plan.registers[0])
        if not count:
            return []
        first = self.plan.rows - count
        row, origin = f"{first + count - 1} - i", f"ORIGIN[{count - 1} - i]"
        return self._loop(count, [f"v[{row}] = v[{origin}]"])

    def reset_lines(self) -> list[str]:
        """Statements that give the registers their initial values, where these are not all 0."""
        if "INITIAL" not in self.tables:
            return []
        count = len(self.plan.registers[0])
        first = self.plan.rows - count
        return self._loop(count, [f"v[{_plus('i', first)}] = INITIAL[i]"])

    def _group(self, group: Group) -> list[str]:
        """Statements that compute one group."""
        aggregate, activation = self._calls[id(group)]
        neuron = _plus("i", -self.plan.input_count)
        inside = []
        if group.fan_in:
            inside.append(self.language.array("u", group.fan_in))
            fill = "gated" if group.gated else "weighted"
            inside.append(f"{fill}(v, {neuron}, u){self.language.end}")
        total = self._aggregate(group, neuron, aggregate)
        if group.scaled:
            total = f"RESPONSE[{neuron}] * {total}"
        pre = f"BIAS[{neuron}] + {total}"
        if group.z_shift is not None:
            inside.append(self.language.local("z", pre))
            inside.append(f"v[{_plus('i', group.z_shift)}] = z{self.language.end}")
            pre = "z"
        value = f"{activation}({pre})" if activation else pre
        inside.append(f"v[i] = {value}{self.language.end}")
        return self._block("i", group.first, group.first + group.count, inside)

    def _aggregate(self, group: Group, neuron: str, function: str) -> str:
        if group.fan_in == 0:
            return self.language.number(group.aggregation.empty)
        if group.fan_in:
            return f"{function}(u)"
        matrix = group.matrix
        if matrix is not None:
            at = _plus(f"(i - {group.first}) * {matrix.width}", matrix.offset)
            total = f"dense_sum(v, {at}, {matrix.source}, {matrix.width})"
        else:
            total = f"{'gated' if group.gated else 'weighted'}_sum(v, {neuron})"
        if group.aggregation.name != "mean":
            return total
        if matrix is not None:
            return f"{total} / {matrix.width}"
        return f"{total} / (START[{_plus('i', 1 - self.plan.input_count)}] - START[{neuron}])"

    def _loop(self, count: int, statements: Iterable[str]) -> list[str]:
        return self._block(
            "i", 0, count, [statement + self.language.end for statement in statements]
        )

    def _block(self, variable: str, start: int, stop: int, inside: Sequence[str]) -> list[str]:
        end = [self.language.block_end] if self.language.block_end else []
        head = self.language.loop(variable, str(start), str(stop))
        return [head, *(INDENT + line for line in inside), *end]

    # --- functions -------------------------------------------------------------------------------

    def _functions_of(self, group: Group) -> tuple[str, str]:
        """Return the functions of a group's aggregation and activation; "" for none."""
        aggregate = ""
        if group.fan_in:
            reduction = Reduction(
                self.language, group.aggregation.expression(group.fan_in), group.fan_in
            )
            title = f"{group.aggregation.name}_of_{group.fan_in}"
            parameter = ("v", "Values")
            aggregate = self._function(title, parameter, reduction.lines, reduction.result)
        formula = group.activation.expression
        if formula == VARIABLE:
            return aggregate, ""
        text = scalar_text(self.language, formula, "z")
        return aggregate, self._function(f"act_{group.activation.name}", ("z", "real"), [], text)

    def _function(
        self, title: str, parameter: tuple[str, str], lines: Sequence[str], result: str
    ) -> str:
        if title not in self._named:
            name = self._named[title] = identifier(title, self._used)
            lines = [*lines, f"return {result}{self.language.end}"]
            self.functions.append(self.language.function(name, [parameter], lines))
        return self._named[title]


def comment_lines(lines: Iterable[str], prefix: str) -> str:
    """Return lines of a comment, each after `prefix`."""
    return "".join(f"{prefix}{line}".rstrip() + "\n" for line in lines)


def _consecutive(rows: Ints) -> bool:
    return bool(np.all(rows == rows[0] + np.arange(len(rows))))


def is_signed(label: str, values: Table) -> bool:
    """Whether the integers of a table need a sign; readers of gains ask which are negative."""
    return label == "GAIN" or bool(np.any(values < 0))


def _index_bytes(label: str, values: Table) -> int:
    top = int(np.max(np.abs(values))) * (2 if is_signed(label, values) else 1)
    return 1 if top <= 255 else 2 if top <= 65535 else 4


def _plus(term: str, number: int) -> str:
    """Return the sum of a term and a number, without a zero or a double sign."""
    if number == 0:
        return term
    return f"{term} {'+' if number > 0 else '-'} {abs(number)}"
