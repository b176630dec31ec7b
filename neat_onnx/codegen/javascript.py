"""JavaScript: an ES module with types in JSDoc, no dependency."""

from neat_onnx.codegen.language import INDENT, Language, helpers_in
from neat_onnx.codegen.plan import Plan
from neat_onnx.codegen.source import Program, Table, comment_lines


class JavaScript(Language):
    """JavaScript's numbers are doubles."""

    length_form = "if ({name}.length !== {count}) throw new RangeError({message} + {name}.length);"
    loop_form = "for (let {variable} = {start}; {variable} < {stop}; ++{variable}) {{"
    array_form = "const {name} = new Float64Array({size});"
    local_form = "const {name} = {value};"
    lowest_form = "{target}.set(Float64Array.from({values}).sort().subarray(0, {count}));"
    function_form = "function {name}({parameter}) {{\n{lines}    return {result};\n}}"

    def __init__(self) -> None:
        self.helpers = helpers_in(_HELPERS)
        self.functions = {op: f"Math.{op}" for op in _MATH} | {op: op for op in self.helpers}
        self.functions |= {"is_nan": "Number.isNaN"}

    def number(self, value: float) -> str:
        """Return a literal that reads back to `value`."""
        return repr(float(value)).replace("inf", "Infinity")

    def key(self, name: str) -> str:
        """Return a key as it stands before its value; computed, it is never the prototype."""
        return f"[{self.text(name)}]" if name == "__proto__" else self.text(name)


def print_javascript(plan: Plan) -> str:
    """Print a plan as one ES module.

    Raises:
        OptionError: a formula has no form in JavaScript.
    """
    program = Program(plan, JavaScript())
    tables = [_table(label, values, program) for label, values in program.tables.items()]
    body = _memory(program) if plan.has_memory else _activate(program)
    parts = [_header(program), *tables, *program.definitions(body), body]
    return "\n\n".join(parts) + "\n"


def _header(program: Program) -> str:
    lines = [*program.description, ""]
    one = len(program.input_names) == 1
    argument = program.input_names[0] if one else "{" + ", ".join(program.input_names) + "}"
    if program.plan.has_memory:
        lines += [
            "const network = new Network();",
            f"const result = network.step({argument});  // one step; reset() starts again",
        ]
    else:
        lines.append(f"const result = activate({argument});")
    lines += ["", f"Tables {program.table_bytes(8)} bytes."]
    return "/**\n" + comment_lines(lines, " * ") + " */"


def _activate(program: Program) -> str:
    lines = [f"const v = new Float64Array({program.plan.rows});", *program.step_lines("const ")]
    return (
        f"{_types(program, '')}export function activate(inputs) {{\n"
        + "".join(f"{INDENT}{line}\n" for line in lines)
        + "}"
    )


def _memory(program: Program) -> str:
    plan = program.plan
    reset = ["this.v.fill(0);", *(["const v = this.v;"] if program.reset_lines() else [])]
    reset += program.reset_lines()
    step = ["const v = this.v;", *program.step_lines("const ")]

    def method(head: str, lines: list[str]) -> str:
        inside = "".join(f"{INDENT * 2}{line}\n" for line in lines)
        return f"{INDENT}{head} {{\n{inside}{INDENT}}}\n"

    return (
        "/** The network with its memory. */\nexport class Network {\n"
        + method("constructor()", [f"this.v = new Float64Array({plan.rows});", "this.reset();"])
        + f"\n{INDENT}/** Forget everything: the next step is the first. */\n"
        + method("reset()", reset)
        + "\n"
        + _types(program, INDENT)
        + method("step(inputs)", step)
        + "}"
    )


def _types(program: Program, indent: str) -> str:
    given = "ArrayLike<number>"
    if len(program.input_names) > 1:
        given = "Record<string, ArrayLike<number>>"
    result = "Float64Array"
    if len(program.output_names) > 1:
        result = "Record<string, Float64Array>"
    return (
        f"{indent}/**\n{indent} * @param {{{given}}} inputs\n{indent} * @returns {{{result}}}\n"
        f"{indent} */\n"
    )


def _table(label: str, values: Table, program: Program) -> str:
    kind = "Float64" if values.dtype.kind == "f" else "Int32"
    return f"const {label} = new {kind}Array([\n{program.rows_of(values)}]);"


_MATH = (
    "abs", "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "tanh", "asinh", "acosh", "atanh", "floor", "ceil",
)  # fmt: skip
_HELPERS = """\
function reciprocal(x) {
    return 1 / x;
}

function sigmoid(x) {
    return 1 / (1 + Math.exp(-x));
}

function maximum(x, y) {
    return x > y || Number.isNaN(x) ? x : y;
}

function minimum(x, y) {
    return x < y || Number.isNaN(x) ? x : y;
}

function relu(x) {
    return maximum(x, 0);
}

function softplus(x) {
    return maximum(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}

function softsign(x) {
    return x / (1 + Math.abs(x));
}

function elu(x, alpha) {
    return x > 0 ? x : alpha * Math.expm1(minimum(x, 0));
}

function selu(x, alpha, gamma) {
    return gamma * elu(x, alpha);
}

function leaky_relu(x, slope) {
    return x < 0 ? slope * x : x;
}

function clip(x, low, high) {
    return minimum(maximum(x, low), high);
}

function sign(x) {
    // of -0 it is 0
    return Math.sign(x) + 0;
}

function is_infinite(x) {
    return x === Infinity || x === -Infinity;
}

function pow(x, y) {
    // Math.pow gives NaN for these
    return x === 1 || (x === -1 && is_infinite(y)) ? 1 : Math.pow(x, y);
}

function mod(x, y) {
    return x % y;
}

function round(x) {
    // halves to even
    return Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x);
}

function erf(x) {
    // a power series near 0, a continued fraction of 1 - erf elsewhere
    const a = Math.abs(x);
    if (Number.isNaN(x)) return x;
    if (a > 6) return Math.sign(x);
    if (a < 2.5) {
        let term = x, sum = x;
        for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); ++n) {
            term *= -x * x / n;
            sum += term / (2 * n + 1);
        }
        return sum * 1.1283791670955126;
    }
    let tail = 0;
    for (let n = 60; n > 0; --n) tail = n / 2 / (a + tail);
    const rest = Math.exp(-a * a) / (a + tail) * 0.5641895835477563;
    return Math.sign(x) * (1 - rest);
}

function total(x, n) {
    let sum = 0;
    for (let i = 0; i < n; ++i) sum += x[i];
    return sum;
}

function product(x, n) {
    let all = 1;
    for (let i = 0; i < n; ++i) all *= x[i];
    return all;
}

function where_largest(x, n) {
    let found = 0;
    for (let i = 1; i < n && !Number.isNaN(x[found]); ++i) {
        if (x[i] > x[found] || Number.isNaN(x[i])) found = i;
    }
    return found;
}

function largest(x, n) {
    return x[where_largest(x, n)];
}

function smallest(x, n) {
    let found = x[0];
    for (let i = 1; i < n; ++i) found = Math.min(found, x[i]);
    return found;
}

/** The sum of the weighted inputs of neuron k. */
function weighted_sum(v, k) {
    let sum = 0;
    for (let e = START[k]; e < START[k + 1]; ++e) {
        sum += WEIGHT[e] * v[SOURCE[e]];
    }
    return sum;
}

/** The same where gaters multiply some inputs. */
function gated_sum(v, k) {
    let sum = 0;
    for (let e = START[k]; e < START[k + 1]; ++e) {
        sum += WEIGHT[e] * v[SOURCE[e]] * (GAIN[e] < 0 ? 1 : v[GAIN[e]]);
    }
    return sum;
}

/** The sum of consecutive values times a row of a matrix. */
function dense_sum(v, at, source, width) {
    let sum = 0;
    for (let e = 0; e < width; ++e) sum += MATRIX[at + e] * v[source + e];
    return sum;
}

/** The weighted inputs of neuron k, one by one. */
function weighted(v, k, u) {
    for (let e = START[k]; e < START[k + 1]; ++e) {
        u[e - START[k]] = WEIGHT[e] * v[SOURCE[e]];
    }
}

/** The same where gaters multiply some inputs. */
function gated(v, k, u) {
    for (let e = START[k]; e < START[k + 1]; ++e) {
        u[e - START[k]] = WEIGHT[e] * v[SOURCE[e]] * (GAIN[e] < 0 ? 1 : v[GAIN[e]]);
    }
}
"""
