"""What networks without names, and how they grew, give away is here."""
