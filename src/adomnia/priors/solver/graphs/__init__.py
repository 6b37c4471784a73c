"""Systems in which each cell lies in at most two rows: how long their cycles are."""
