"""The policy file as values is here."""
