"""DuckDB, and the files that are read with it, are here."""
