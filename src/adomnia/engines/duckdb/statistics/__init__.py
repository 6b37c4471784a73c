"""Files of Stata, SPSS and SAS are read here."""
