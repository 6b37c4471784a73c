"""What an attacker learns is here."""
