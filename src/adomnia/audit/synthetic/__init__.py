"""What made-up records tell about the people behind them is tested here."""
