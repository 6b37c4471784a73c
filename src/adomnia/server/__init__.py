"""Everyone who comes over the network is here."""
