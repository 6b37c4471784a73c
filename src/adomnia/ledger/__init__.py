"""What has been spent is here."""
