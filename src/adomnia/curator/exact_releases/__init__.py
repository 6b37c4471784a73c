"""What was released exactly is registered here, and what that changes."""
