"""What cleaning and bounds leave out: paid for once, and told beside every answer."""
