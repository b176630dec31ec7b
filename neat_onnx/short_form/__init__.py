"""Rewrites for the short form of a network that was imported and not changed."""
