"""Bounds of connected parts that are no graphs: closed forms, n-fold rows, determinants, lists."""
