"""What PostgreSQL's clients ask about the server itself is answered here."""

from __future__ import annotations

from adomnia.wire.catalogue.catalogue import Catalogue, Column, Result
from adomnia.wire.catalogue.errors import CatalogueError

__all__ = ["Catalogue", "CatalogueError", "Column", "Result"]
