"""Changes that no row sees: the kernel's lattice, its smallest moves, and whole points."""
