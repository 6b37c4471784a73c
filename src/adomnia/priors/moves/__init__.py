"""How far a question moves between induced neighbours is found here."""
