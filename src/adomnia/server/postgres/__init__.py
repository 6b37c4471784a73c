"""Everyone who comes with psql or a driver for PostgreSQL is here.

The protocol itself is in the room `wire`; this joins it to accounts, questions and budgets.
`listener` takes connections, lets people in and answers them with `questions`, `explain` and the
catalogue of `catalogue_content`; a `connection_context` is what they need of one connection.
"""
