"""Verification: a network and a model run side by side and compared."""
