"""What to measure, and how the rest follows, is here."""
