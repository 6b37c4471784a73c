"""The paper's way to release marginals, the Fourier family, is here."""
