"""Noise on whole tables is here."""
