"""What noisy tables tell about groups of people is here."""
