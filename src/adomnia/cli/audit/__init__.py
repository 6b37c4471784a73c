"""`adomnia audit`: what a release would disclose, whether a claim is true, and one page of it."""

from adomnia.cli.audit.group import audit

__all__ = ["audit"]
