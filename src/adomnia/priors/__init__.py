"""What is already known is here."""
