"""SQL becomes a question here: parse, check, bind."""
