"""Layers of neurons that sum their inputs: dense, sparse, gated, or one input each."""
