"""A person at a terminal is here."""
