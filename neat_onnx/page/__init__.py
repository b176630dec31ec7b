"""The functions of the engine that the web page calls."""
