"""PostgreSQL as a source of data is here."""
