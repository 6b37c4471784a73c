"""A curator judges data, releases and the promise itself, with all attacks at hand."""
