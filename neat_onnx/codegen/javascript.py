"""JavaScript: an ES module with types in JSDoc, no dependency."""

from types import MappingProxyType

from neat_onnx.codegen.language import MATH, Language

_MATH = (*MATH, "asinh", "acosh", "atanh", "ceil", "log1p", "expm1")


class JavaScript(Language):
    """JavaScript's numbers are doubles."""

    native = MappingProxyType(
        {op: f"Math.{op}" for op in _MATH}
        | {"is_nan": "Number.isNaN", "plain_pow": "Math.pow", "mod": "({} % {})"}
    )
    infinity = "Infinity"
    length_form = (
        'if ({name}.length !== {count}) throw new RangeError({message} + ", not " + {name}.length);'
    )
    loop_form = "for (let {variable} = {start}; {variable} < {stop}; ++{variable}) {{"
    array_form = "const {name} = new Float64Array({size});"
    local_form = "let {name} = {value};"
    function_form = "function {name}({parameters}) {{\n{lines}}}"
    table_form = "const {name} = new {kind}Array([\n{rows}]);"
    kinds = ("Float64", "Int32")
    head = ("/**\n", " * ", " */")
    file = "\n$head\n\n$members\n"
    stateless = """
/**
 * @param {$given} inputs
 * @returns {$result}
 */
export function activate(inputs) {
    const v = new Float64Array($rows);
    $step
}
"""
    stateful = """
/** The network with its memory. */
export class Network {
    constructor() {
        this.v = new Float64Array($rows);
        this.reset();
    }

    /** Forget everything: the next step is the first. */
    reset() {
        const v = this.v.fill(0);
        $reset
    }

    /**
     * @param {$given} inputs
     * @returns {$result}
     */
    step(inputs) {
        const v = this.v;
        $step
    }
}
"""
    calls = (
        "const result = activate($argument);",
        "const network = new Network();\n"
        "const result = network.step($argument);  // one step; reset() starts again",
    )

    def key(self, name: str) -> str:
        """Return a key as it stands before its value; computed, it is never the prototype."""
        return f"[{self.text(name)}]" if name == "__proto__" else self.text(name)
