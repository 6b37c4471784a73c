"""How networks grow, with one edge and without it, is here."""
