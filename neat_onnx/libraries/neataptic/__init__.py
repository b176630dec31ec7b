"""neataptic 1.4: network JSON."""
