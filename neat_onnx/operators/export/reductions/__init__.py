"""Reductions, norms and means along axes."""
