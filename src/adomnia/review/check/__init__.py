"""What a curator is told of a source before it is loaded, and from when on that stops a load."""
