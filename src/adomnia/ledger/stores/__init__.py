"""Where a journal is kept is here."""
