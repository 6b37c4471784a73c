"""People found again in files without names are here."""
