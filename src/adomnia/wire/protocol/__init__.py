"""TODO one sentence."""
