"""Made-up databases, and the laws of models and mechanisms, are here for tests of one's own."""
