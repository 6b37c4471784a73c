"""Everyone who comes with psql or a driver for PostgreSQL is here."""
