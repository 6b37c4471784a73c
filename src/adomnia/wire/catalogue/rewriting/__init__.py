"""A client's statement about the catalogue becomes DuckDB's here.

`parser` reads it and refuses what is not allowed, `column_names` and `column_types` say what
PostgreSQL would call its columns and of which types they were, `rewriter` puts our tables and
functions in the places of PostgreSQL's, with `casts`, `functions` and `literals`.
"""
