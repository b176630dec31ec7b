"""What the web page may ask of the engine."""
