"""Statements that every SQL engine runs are made here."""
