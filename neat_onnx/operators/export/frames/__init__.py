"""The ends of a graph: its ports, and memory as states, as a Scan, or as rows of all steps."""
