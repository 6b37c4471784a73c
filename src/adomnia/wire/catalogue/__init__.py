"""What PostgreSQL's clients ask about the server itself is answered here, without any data.

`content` is what a server declares, `builder` makes an in-memory DuckDB of it and of the tables
in `data`, `rewriting` turns a client's statement into one about that, `catalogue` runs it.
"""

from __future__ import annotations

from adomnia.wire.catalogue.builder import SharedCatalogue
from adomnia.wire.catalogue.catalogue import Catalogue, CatalogueResult
from adomnia.wire.catalogue.content import CatalogueContent, DeclaredRelation
from adomnia.wire.catalogue.errors import CatalogueError

__all__ = [
    "Catalogue",
    "CatalogueContent",
    "CatalogueError",
    "CatalogueResult",
    "DeclaredRelation",
    "SharedCatalogue",
]
