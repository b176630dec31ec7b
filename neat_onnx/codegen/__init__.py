"""Code generation: a network as source text that needs no runtime.

One plan (`plan`) puts all computations in order, and one printer (`source`) says it in the words of
a language: a table of spellings (`language`), with a module each (`c`, `csharp`, `gdscript`,
`javascript`, `python`). Formulas are printed from the expressions that numpy evaluates; `helpers`
has the functions that they call.
"""
