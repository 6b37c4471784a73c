"""Noise on counts, and on which of them are shown, is here."""
