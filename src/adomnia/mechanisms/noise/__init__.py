"""Exact integer noise is drawn here."""
