"""Rows of several tables, each with its owner, become statements here."""
