"""What PostgreSQL's clients ask about the server itself is answered here."""

from __future__ import annotations

from adomnia.server.postgres.catalogue.catalogue import Catalogue, Column, Result
from adomnia.server.postgres.catalogue.failures import CatalogueError

__all__ = ["Catalogue", "CatalogueError", "Column", "Result"]
