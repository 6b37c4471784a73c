"""Connections to PostgreSQL are made here, for the data, the ledger and the accounts."""
