"""What a statement over several private tables reads: rows of which each belongs to its units."""
