"""Checks of a graph in simple form: numbers that neurons do not have."""
