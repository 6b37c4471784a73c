"""A first policy for several tables: their keys, what refers to what, and whose the rows are."""
