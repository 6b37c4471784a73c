"""What the console's pages show, one file a page, and what several of them have in common."""
