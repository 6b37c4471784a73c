"""Whole tables that agree with whole sums are here: how far apart neighbours lie, and which fit.

It stands on its own: numbers and matrices come in, bounds and tables go out, and nothing of the
other rooms is imported.

- `induced_sensitivity`: how far a question differs between induced neighbours
- `system`, `bound`, `effort`, `errors`: what comes in, what goes out, how long, what can go wrong
- `lattice/`: exact elimination, integer kernels, Graver bases, whole points of a region
- `tables/`: the fibre of a system; its nearest, random, determined and impossible tables
- `reduction/`: smaller systems with the same minimal differences
- `graphs/`: systems that are graphs, and their longest cycles
- `bounds/`: what holds where nothing else does
- `shapes`, `linear_programs`, `witness`: usual rows, proposals in floats, the check of a difference
"""
