"""A first policy for a source is drafted here."""
