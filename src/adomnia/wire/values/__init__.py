"""Values of PostgreSQL's types: their numbers, and how they are written as text and as bytes."""
