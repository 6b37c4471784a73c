"""How far noise carries an answer is worked out here."""
