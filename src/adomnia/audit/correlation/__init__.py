"""Records that move together, and what no promise about rows hides, are here."""
