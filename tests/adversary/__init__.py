"""A second opinion on every use of the data, which shares no code with what it judges."""
