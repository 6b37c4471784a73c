"""What cleaning does to a source is counted here, for its curator."""
