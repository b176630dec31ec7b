"""A plan as a file of source code: what all languages share."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from string import Template
from typing import Any

import numpy as np

from neat_onnx.codegen.helpers import helpers_of
from neat_onnx.codegen.language import INDENT, Language, Reduction, identifier, quoted, scalar_text
from neat_onnx.codegen.plan import Group, Plan
from neat_onnx.network.expression import VARIABLE
from neat_onnx.network.genes import NONE, Floats, Ints
from neat_onnx.network.port import Port

Table = Floats | Ints


def filled(template: str, values: dict[str, Any]) -> str:
    """Return a template with $names replaced; by a list of lines, where a line is a name alone."""
    lines = []
    for line in template.strip("\n").split("\n"):
        name = line.lstrip()
        block = values.get(name[1:])
        if name.startswith("$") and isinstance(block, list):
            indent = line[: len(line) - len(name)]
            lines += [(indent + each).rstrip() for each in block]
        else:
            lines.append(Template(line).substitute(values))
    return "\n".join(lines)


class Program:
    """A plan in the words of a language; `name` begins C's functions, and is C#'s class."""

    def __init__(self, plan: Plan, language: Language, name: str) -> None:
        self.plan, self.language, self.name = plan, language, name
        self._functions: list[str] = []  # definitions of activations and aggregations
        self._named: dict[str, str] = {}
        self._used = {f"{name}_{end}" for end in ("activate", "reset", "step", "state")}
        self.inputs = self._ports("input", plan.inputs)
        self.outputs = self._ports("output", plan.outputs)
        self._weighted = "gated" if "GAIN" in self.tables else "weighted"

    def _ports(
        self, kind: str, ports: Sequence[tuple[Port, Ints]]
    ) -> list[tuple[str, tuple[Port, Ints]]]:
        """Ports with their names in the code, which are no words of any language."""
        if len(ports) == 1:
            return [(kind, ports[0])]
        return [(identifier(f"{kind}_{each[0].name}", self._used), each) for each in ports]

    def file(self) -> str:
        """Print the whole file."""
        plan, language = self.plan, self.language
        ports = [
            language.port_form.format(name=name, count=len(rows), const=const)
            for side, const in ((self.inputs, "const "), (self.outputs, ""))
            for name, (_, rows) in side
        ]
        one_in, one_out = len(self.inputs) == 1, len(self.outputs) == 1
        values: dict[str, Any] = {
            "name": self.name,
            "guard": f"{self.name.upper()}_H",
            "kind": language.real,
            "linkage": language.linkage,
            "rows": plan.rows,
            "reset": self._reset_lines(),
            "step": self._step_lines(),
            "ports": ", ".join(ports),
            "arguments": ", ".join(name for name, _ in self.inputs + self.outputs),
            "argument": "input" if one_in else "{name: numbers}",
            "given": "ArrayLike<number>" if one_in else "Record<string, ArrayLike<number>>",
            "result": "Float64Array" if one_out else "Record<string, Float64Array>",
        }
        body = filled(language.stateful if plan.has_memory else language.stateless, values)
        needed = helpers_of(language, "\n".join([*self._functions, body]))
        tables = "\n".join(self._table(label, each) for label, each in self.tables.items())
        parts = [tables, *needed, *self._functions, body]
        begin, prefix, end = language.head
        usage = language.usage.replace("$call", language.calls[plan.has_memory])
        told = [*self._description(), "", *filled(usage, values).split("\n")]
        head = begin + "".join(f"{prefix}{line}".rstrip() + "\n" for line in told) + end
        values["head"] = head.rstrip("\n").split("\n")
        values["members"] = language.gap.join(parts).split("\n")
        return filled(language.file, values) + "\n"

    def _description(self) -> list[str]:
        """Lines for the head of the file: the network and its ports."""
        plan = self.plan
        count = plan.input_count + len(plan.bias)
        memory = f", {len(plan.registers[0])} values remembered" if plan.has_memory else ""
        lines = [f"A network of {count} neurons and {len(plan.weight)} connections{memory}.", ""]
        for kind, ports in (("input", self.inputs), ("output", self.outputs)):
            for name, (port, rows) in ports:
                shape = f", shape {list(port.shape)} in C order" if len(port.shape) != 1 else ""
                renamed = "" if name == port.name else f": port {quoted(port.name)}"
                lines.append(f"{kind} {name}, {len(rows)} numbers{shape}{renamed}")
        return lines

    # --- tables ----------------------------------------------------------------------------------

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
        found |= {f"{name.upper()}_ROWS": rows for name, (_, rows) in self.outputs}
        rows, origins, initial = plan.registers
        if len(rows):
            found["ORIGIN"] = origins
        if np.any(initial != 0.0):
            found["INITIAL"] = initial
        return {name: values for name, values in found.items() if len(values)}

    def _table(self, label: str, values: Table) -> str:
        """The definition of a table, eight elements to a line."""
        whole = values.dtype.kind != "f"
        texts = [str(x) if whole else self.language.number(x) for x in values.tolist()]
        rows = (", ".join(texts[k : k + 8]) for k in range(0, len(texts), 8))
        return self.language.table_form.format(
            kind=self.language.kind(label, whole, int(np.max(np.abs(values))) if whole else 0),
            name=label,
            count=len(values),
            rows="".join(f"{INDENT}{row},\n" for row in rows),
        )

    # --- statements ------------------------------------------------------------------------------

    def _step_lines(self) -> list[str]:
        """Statements from the inputs to the outputs, registers included.

        Where ports are no parameters, `inputs` and the result are by the ports' own names, or the
        numbers of the only one.
        """
        language, by_name = self.language, not self.language.port_form
        one_in, one_out = len(self.inputs) == 1, len(self.outputs) == 1
        lines, at = [], 0
        for name, (port, rows) in self.inputs:
            if by_name:
                key = "" if one_in else f"[{language.text(port.name)}]"
                lines.append(language.local(name, f"inputs{key}"))
            lines += language.length_check(name, len(rows), port.name)
        for name, (port, rows) in () if by_name else self.outputs:
            lines += language.length_check(name, len(rows), port.name)
        for name, (_, rows) in self.inputs:
            given = language.given_form.format(value=f"{name}[i]")
            lines += self._copied(len(rows), f"v[{_i_plus(at)}] = {given}")
            at += len(rows)
        for group in self.plan.groups:
            lines += self._group(group)
        for name, (_, rows) in self.outputs if by_name else ():
            lines.append(language.array_form.format(name=name, size=len(rows)))
        for name, (_, rows) in self.outputs:
            lines += self._copied(len(rows), f"{name}[i] = v[{name.upper()}_ROWS[i]]")
        count = len(self.plan.registers[0])
        if count:  # the last register first, as a later one never feeds an earlier one
            row, origin = f"{self.plan.rows - 1} - i", f"ORIGIN[{count - 1} - i]"
            lines += self._copied(count, f"v[{row}] = v[{origin}]")
        if by_name:
            named = (f"{language.key(port.name)}: {name}" for name, (port, _) in self.outputs)
            result = "output" if one_out else f"{{{', '.join(named)}}}"
            lines.append(f"return {result}{language.end}")
        return lines

    def _reset_lines(self) -> list[str]:
        """Statements that give the registers their initial values, where these are not all 0."""
        if "INITIAL" not in self.tables:
            return []
        count = len(self.plan.registers[0])
        return self._copied(count, f"v[{_i_plus(self.plan.rows - count)}] = INITIAL[i]")

    def _group(self, group: Group) -> list[str]:
        """Statements that compute one group."""
        aggregate, activation = self._functions_of(group)
        neuron = _i_plus(-self.plan.input_count)
        inside = []
        if group.fan_in:
            inside.append(self.language.array_form.format(name="u", size=group.fan_in))
            inside.append(f"{self._weighted}(v, {neuron}, u){self.language.end}")
        total = self._aggregate(group, neuron, aggregate)
        if group.scaled:
            total = f"RESPONSE[{neuron}] * {total}"
        pre = f"BIAS[{neuron}] + {total}"
        if group.z_shift is not None:
            inside.append(self.language.local("z", pre))
            inside.append(f"v[{_i_plus(group.z_shift)}] = z{self.language.end}")
            pre = "z"
        value = f"{activation}({pre})" if activation else pre
        inside.append(f"v[i] = {value}{self.language.end}")
        return self._loop(group.first, group.first + group.count, inside)

    def _aggregate(self, group: Group, neuron: str, function: str) -> str:
        if group.fan_in == 0:
            return self.language.number(group.aggregation.empty)
        if group.fan_in:
            return f"{function}(u)"
        total = f"{self._weighted}_sum(v, {neuron})"
        if group.aggregation.name != "mean":
            return total
        return f"{total} / (START[{_i_plus(1 - self.plan.input_count)}] - START[{neuron}])"

    def _copied(self, count: int, statement: str) -> list[str]:
        return self._loop(0, count, [statement + self.language.end])

    def _loop(self, start: int, stop: int, inside: Iterable[str]) -> list[str]:
        head = self.language.loop_form.format(variable="i", start=start, stop=stop)
        return self.language.block(head, inside)

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
            self._functions.append(self.language.function(name, [parameter], lines))
        return self._named[title]


def _i_plus(number: int) -> str:
    """Return the sum of i and a number, without a zero or a double sign."""
    return "i" if number == 0 else f"i {'+' if number > 0 else '-'} {abs(number)}"
