"""One file a text format, declarations only. The file's name is the format's id; nothing else has to be edited.

The folder shares its name with `toolglot.formats`, the function, so the module can be called.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..format import Format


class _Formats(ModuleType):
    def __call__(self) -> list[Format]:
        formats: list[Format] = import_module("toolglot.api").formats()
        return formats


sys.modules[__name__].__class__ = _Formats
