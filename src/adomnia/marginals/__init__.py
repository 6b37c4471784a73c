"""How tables are released is here."""
