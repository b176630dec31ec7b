"""Populations: networks of different shapes with the same ports, computed together."""
