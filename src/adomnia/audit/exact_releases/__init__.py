"""What exact releases and noisy answers tell together is here."""
