"""Workbooks of Excel are read here."""
