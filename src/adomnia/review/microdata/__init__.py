"""Made-up records are held against the data that they stand for here."""
