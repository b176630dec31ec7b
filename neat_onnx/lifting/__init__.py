"""Import: a Model lifted to a Network, by a core that names no operator."""
