"""Drawings as SVG: bars with margins, lines in a frame, gauges and the stairs of spending."""
