"""Code generation: a network as source text that needs no runtime.

One plan (`plan`) puts all computations in order; each language prints it (`c`, `javascript`,
`python`). Formulas are printed from the expressions that numpy evaluates (`formulas`).
"""
