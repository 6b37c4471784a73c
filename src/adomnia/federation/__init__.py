"""Several holders answer one question together here, and none shows its own part."""
