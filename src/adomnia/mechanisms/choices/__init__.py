"""Private choices are here."""
