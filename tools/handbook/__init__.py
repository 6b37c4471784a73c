"""What the site shows beside the pages of docs/: made from the code when the site is built."""
