"""A curator judges data, releases and the promise itself, with every attack at hand."""
