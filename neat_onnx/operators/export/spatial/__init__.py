"""Convolutions and pools: which neurons they are, and their nodes."""
