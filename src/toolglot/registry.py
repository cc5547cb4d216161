"""The formats by name. A format's file is loaded when it is first needed; its name is its id."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules

from .definition import ToolSet
from .engine.compile import Program, compile_format
from .engine.entries import Untagged
from .engine.plan import Plan
from .errors import DefinitionError
from .format import Format, base_name
from .pattern import Call, CallObject, Section

# Names of llm-beacon's that stand for several formats.
GROUPS: dict[str, tuple[str, ...]] = {"mistral": ("mistral_v3", "mistral_v11", "mistral_v13")}
# Names that engines have for Transformers' response templates, of which each tokenizer has its own.
TEMPLATED = frozenset(("response_template", "sglang:response_template", "vllm:hf"))
PACKAGE = import_module(".formats", __package__)
SEED_IDS = {"mistral_v3": "mistral", "mistral_v11": "mistral", "mistral_v13": "mistral", "llama3_json": "llama"}


MAX_PLANS = 256  # those that were made for tools, or for one that has to be called, would be without bound


class Registry:
    """All formats, those in the package and those registered at run time."""

    def __init__(self) -> None:
        self._formats: dict[str, Format] = {}
        self._programs: dict[str, Program] = {}
        self._plans: dict[object, Plan] = {}
        self._names: dict[str, set[str]] | None = None
        self.detection: Plan | None = None  # of all three tiers, kept at hand
        self._files = sorted(m.name for m in iter_modules(PACKAGE.__path__) if not m.name.startswith("_"))
        self._added: list[str] = []

    def ids(self) -> list[str]:
        """All ids."""
        return self._files + self._added

    def __iter__(self) -> Iterator[Format]:
        return (self.get(id) for id in self.ids())

    def get(self, id: str) -> Format:
        """The format with exactly this id."""
        fmt = self._formats.get(id)
        if fmt is None:
            fmt = import_module(f"{PACKAGE.__name__}.{id}").FORMAT
            if not fmt.id:
                fmt = replace(fmt, id=id)
            self._formats[id] = fmt
        return fmt

    def add(self, fmt: Format) -> None:
        """Register a format, or replace one that was registered."""
        if not fmt.id:
            raise DefinitionError("register_format: the format needs an id")
        if fmt.id in self._files or fmt.id in GROUPS:
            raise DefinitionError(f"register_format: {fmt.id!r} is the id of a format that comes with Toolglot")
        for name in fmt.members:
            if name not in self._files and name not in self._added:
                raise DefinitionError(f"register_format: members: no format has the id {name!r}")
        for other in self:
            if other.id != fmt.id and (other.id in fmt.aliases or set(other.aliases) & {*fmt.aliases, fmt.id}):
                raise DefinitionError(f"register_format: a name of {fmt.id!r} is taken by {other.id!r}")
        program = self._compile(fmt)
        _ = program.code  # mistakes are found now, not when its opener is met
        if fmt.id not in self._added:
            self._added.append(fmt.id)
        self._formats[fmt.id] = fmt
        self._programs[fmt.id] = program
        self._forget_plans()

    def remove(self, id: str) -> None:
        """Take out a format that was registered; `KeyError` for any other."""
        if id not in self._added:
            raise KeyError(id)
        self._added.remove(id)
        del self._formats[id], self._programs[id]
        self._forget_plans()

    def _forget_plans(self) -> None:
        # A new dict: what another thread makes of the formats before goes into the old one.
        self._plans = {}
        self.detection = None
        self._names = None

    def added(self) -> tuple[Format, ...]:
        """The formats that were registered, in that order."""
        return tuple(map(self.get, self._added))

    def program(self, id: str) -> Program:
        """The program of a format."""
        program = self._programs.get(id)
        if program is None:
            program = self._programs[id] = self._compile(self.get(id))
        return program

    def _compile(self, fmt: Format, tools: ToolSet | None = None) -> Program:
        program = compile_format(fmt, tools)
        program.fast = fmt.id in self._files
        return program

    # -- names -----------------------------------------------------------------------------------------------

    def _index(self) -> dict[str, set[str]]:
        if self._names is None:
            names: dict[str, set[str]] = {}
            for fmt in self:
                for engine, own in fmt.engines.items():
                    for name in own:
                        names.setdefault(name, set()).add(fmt.id)
                        names.setdefault(f"{engine}:{name}", set()).add(fmt.id)
            self._names = names
        return self._names

    def resolve(self, name: str) -> tuple[str, ...]:
        """The ids that a name stands for, usually one; raises `DefinitionError`."""
        if name.__class__ is not str:
            if not isinstance(name, str):
                raise TypeError(f"format: expected str, got {type(name).__name__}")
            name = str.__str__(name)
        if name in self._formats or name in self._files:
            return (name,)
        if name in GROUPS:
            return GROUPS[name]
        for fmt in self:
            if name in fmt.aliases:
                return (fmt.id,)
        found = self._index().get(name)
        if found is None:
            if name in TEMPLATED:
                raise DefinitionError(
                    f"{name!r} is what a model's tokenizer says: load its response_template with "
                    "format_from_response_template and register the format that this gives",
                    "definition.unknown_format",
                )
            known = {known.lower(): known for known in (*self._index(), *GROUPS, *self.ids())}
            near = [known[match] for match in get_close_matches(name[:80].lower(), known, n=3, cutoff=0.7)]
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "; formats() lists them"
            raise DefinitionError(f"no format is called {name[:80]!r}{hint}", "definition.unknown_format")
        for members in GROUPS.values():
            if found == set(members):
                return members
        if len(found) > 1:
            readings = sorted(k for k, ids in self._index().items() if k.endswith(f":{name}"))
            raise DefinitionError(
                f"{name!r} names several formats: {', '.join(sorted(found))}; say one of {', '.join(readings)}",
                "definition.ambiguous_name",
            )
        return tuple(found)

    def for_model(self, model: str) -> str | None:
        """The format of a model by its name: the longest match of all patterns wins."""
        name = base_name(model)
        best: tuple[int, int, str] | None = None
        for fmt in self:
            for pattern in fmt.models:
                match = re.search(pattern, name)
                if match is not None:
                    rank = (match.end() - match.start(), -fmt.rank, fmt.id)
                    if best is None or rank > best:
                        best = rank
        return None if best is None else best[2]

    def for_template(self, source: str) -> str | None:
        """The format of a chat template: of the signs that it holds all literals of, the longest wins."""
        best: tuple[int, int, str] | None = None
        for fmt in self:
            for sign in fmt.template:
                if all(text in source for text in sign):
                    rank = (sum(map(len, sign)), -fmt.rank, fmt.id)
                    if best is None or rank > best:
                        best = rank
        return None if best is None else best[2]

    # -- plans -----------------------------------------------------------------------------------------------

    def plan(
        self,
        ids: tuple[str, ...] | None,
        *,
        python: bool = False,
        required: str | None = None,
        tools: ToolSet | None = None,
    ) -> Plan:
        """What to look for: for given formats, or (None) for all that can be detected.

        ``python``: call syntax counts in detection. ``required``: a call has to come, so bare JSON counts too.
        ``tools``: for formats that are read by their tools.
        """
        names = None
        if tools is not None and ids is not None and any(self.get(id).by_tool for id in ids):
            names = tools.parameters()
        key = (ids, python, required, names)
        plans = self._plans
        plan = plans.get(key)
        if plan is None:
            if ids is None:
                plan = self._detection(python, required)
                if plans is not self._plans:
                    self.detection = None  # a format was registered meanwhile
            else:
                plan = self._plan(ids, required, tools)
            if len(plans) >= MAX_PLANS:
                plans.clear()
            plans[key] = plan
        return plan

    def _detection(self, python: bool, required: str | None) -> Plan:
        known = self.detection
        if known is None:
            programs = [self.program(fmt.id) for fmt in self if fmt.detect]
            tiers = Untagged("json", "json"), Untagged("list", "pythonic"), Untagged("python", "python")
            known = self.detection = Plan(programs, untagged=tiers, detect=True)
        if python and required is None:
            return known
        bare = Untagged("json", "json", named=required or None, start=bool(required))
        return known.with_untagged((bare, *known.untagged[1:]) if python else (bare,))

    def _plan(self, ids: tuple[str, ...], required: str | None, tools: ToolSet | None) -> Plan:
        formats = [self.get(id) for id in ids]
        for fmt in list(formats):
            formats.extend(self.get(id) for id in fmt.members)
        programs = [self._compile(fmt, tools) if fmt.by_tool else self.program(fmt.id) for fmt in formats]
        specs: tuple[Untagged, ...] = ()
        first = formats[0]
        if first.tier == "json":
            before = tuple(text for text in (*first.before, first.lead) if text.strip())
            single = first.max_calls == 1 and not first.start
            keys = _keys(first)
            specs = (
                Untagged("json", first.id, eager=True, start=first.start, keys=keys, single=single, before=before),
            )
        elif first.tier == "python" and not first.start:
            specs = (Untagged("python", first.id, eager=True),)
        elif first.bare_json:
            left = first.bare_json if isinstance(first.bare_json, tuple) else ()
            specs = (Untagged("json", first.id, eager=True, start=True, declared=True, before=left),)
        elif required is not None:
            specs = (Untagged("json", "json", eager=not required, start=True, named=required or None),)
        return Plan(programs, format_id=first.id if len(ids) == 1 else None, untagged=specs)


def _keys(fmt: Format) -> CallObject:
    """The call object of a format that is one; what stands around it is for writing."""
    node = fmt.nodes()[0]
    if isinstance(node, Section):
        node = node.items[0]
    assert isinstance(node, Call)
    return next(item for item in node.items if isinstance(item, CallObject))


REGISTRY = Registry()
