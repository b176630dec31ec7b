"""Export of operators: node classes, the planners that lower neurons to them, and frames.

`families` registers all planners (`lowering.registry.lowers`), `nodes` the classes of nodes.
"""
