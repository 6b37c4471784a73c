"""PostgreSQL is spoken here: its protocol and its catalogue, for any server that answers SQL."""
