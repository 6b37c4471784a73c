"""Noise for statistics of a graph is here."""
