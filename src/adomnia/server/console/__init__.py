"""The console: pages in a browser for those who ask and those who watch over it."""
