"""Functions of numbers, element by element: formulas become nodes, and nodes formulas."""
