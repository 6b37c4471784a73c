"""Made-up databases, and the laws that models keep, are here for tests of one's own."""
