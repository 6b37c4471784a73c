"""Totals over joined tables: each unit is cut off at a bound that is found privately."""
