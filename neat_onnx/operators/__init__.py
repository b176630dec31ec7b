"""The operators, one file a family; `families` registers the functions of all.

A newcomer who asks "where is Flatten?" looks for the family here. `export/` has what export writes.
"""
