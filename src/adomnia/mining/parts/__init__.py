"""What the models are made of is here."""
