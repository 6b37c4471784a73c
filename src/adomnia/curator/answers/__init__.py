"""What was measured becomes an answer here, or answers again."""
