"""`adomnia attack NAME`: one attack by name, and what it learned."""

from adomnia.cli.attack.group import attack

__all__ = ["attack"]
