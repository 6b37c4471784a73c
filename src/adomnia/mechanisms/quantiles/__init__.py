"""Private quantiles are here."""
