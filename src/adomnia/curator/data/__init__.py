"""Which data is asked, and how it came here."""
