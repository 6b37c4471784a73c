"""Where noise is added is here."""
