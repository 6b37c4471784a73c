"""Where the data lives is here."""
