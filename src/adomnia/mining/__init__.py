"""What can be learned through a session alone is here."""
