"""What the data may look like is here."""
