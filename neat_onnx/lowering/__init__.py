"""Export: a Network lowered to a Model, by a core that names no operator."""
