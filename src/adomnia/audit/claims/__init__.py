"""Whether a mechanism keeps the epsilon it claims is tested here."""
