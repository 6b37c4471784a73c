"""Changes that no release can see are here: the kernel's lattice and its smallest moves."""
