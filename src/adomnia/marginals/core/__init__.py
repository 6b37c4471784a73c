"""Our way to release marginals, by residuals and views, is here."""
