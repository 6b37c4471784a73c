"""Spark as a source of data is here."""
