"""Tools: what a model is told that it may call, read from whatever the caller has."""

from .tool import Tool
from .toolset import ToolSet

__all__ = ["Tool", "ToolSet"]
