"""Data, noise and budget meet here, and only here."""
