"""What the five papers claim, run through the package's front door."""
