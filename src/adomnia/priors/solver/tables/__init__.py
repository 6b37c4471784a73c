"""The tables that agree with the numbers are here."""
