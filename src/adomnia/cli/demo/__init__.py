"""`adomnia demo`: a made-up census, and the ways to ask it."""

from adomnia.cli.demo.command import demo

__all__ = ["demo"]
