"""What may be asked is here."""
