"""A system and a question become smaller here, with the same minimal differences."""
