"""What to measure beside exact releases, so that the question follows with the least noise."""
