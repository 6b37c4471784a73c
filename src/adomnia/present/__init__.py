"""What a person looks at is here."""
