"""One file a wire format; the file's name is the format's id. Files that begin with ``_`` are what they share.

The folder shares its name with `toolglot.providers`, the function, so the module can be called.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._names import Provider


class _Providers(ModuleType):
    def __call__(self) -> list[Provider]:
        providers: list[Provider] = import_module("toolglot.providers._api").providers()
        return providers


sys.modules[__name__].__class__ = _Providers
