"""Questions about a graph are answered here."""
