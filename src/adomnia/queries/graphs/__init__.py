"""What may be asked of a graph, and how a person writes it."""
