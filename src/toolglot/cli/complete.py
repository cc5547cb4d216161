"""What a shell completes: ids of formats, names of providers, codes, models."""

from __future__ import annotations

import re

import toolglot

from ..errors import CODES, LOSSES, PROBLEMS, REPAIRS
from ..registry import GROUPS, REGISTRY

_NAME = re.compile(r"[A-Za-z0-9._+-]+")


def _starting(incomplete: str, names: list[str]) -> list[str]:
    return [name for name in names if name.lower().startswith(incomplete.lower())]


def format_ids(incomplete: str) -> list[str]:
    """Ids of formats."""
    return _starting(incomplete, sorted([*REGISTRY.ids(), *GROUPS]))


def provider_names(incomplete: str) -> list[str]:
    """Names of providers."""
    return _starting(incomplete, [provider.value for provider in toolglot.providers()])


def model_names(incomplete: str) -> list[str]:
    """Names of models whose format is known: as the formats' declarations have them, without spaces."""
    names = {
        name
        for fmt in toolglot.formats()
        for name in (family.replace(" ", "-") for family in fmt.families)
        if _NAME.fullmatch(name) and toolglot.format_for_model(name) == fmt.id
    }
    return _starting(incomplete, sorted(names))


def codes(incomplete: str) -> list[str]:
    """Codes of errors, losses, problems and repairs."""
    return _starting(incomplete, [*CODES, *LOSSES, *PROBLEMS, *REPAIRS])
