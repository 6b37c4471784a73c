"""Tables that agree with each other are released here."""
