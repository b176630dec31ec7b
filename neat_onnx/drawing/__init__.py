"""A network seen: where its neurons stand, which way its connections go, and the picture as SVG."""
