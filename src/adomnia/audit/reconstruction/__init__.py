"""Secrets rebuilt from what was answered or published are here."""
