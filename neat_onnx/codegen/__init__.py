"""Code generation: a network as source text that needs no runtime.

One plan (`plan`) puts all computations in order; `source` says it in the words of a language
(`language`), which a module each puts into a file (`c`, `csharp`, `gdscript`, `javascript`,
`python`). Formulas are printed from the expressions that numpy evaluates; `helpers` has the
functions that they call.
"""
