"""What is promised is here."""
