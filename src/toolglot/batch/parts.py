"""The folder ``OUT.parts`` of a batch in the making: finished parts, and what is needed to go on.

``manifest.json`` says of what input and by what options the parts are; ``done.jsonl`` has a line for each part that is
whole. A part is written under another name and renamed, so a process may be killed at any moment.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

from ..errors import BatchError
from .sources import FOLDER_SUFFIX, digest_of
from .work import Done, part_name, unwritable

_MANIFEST: Final = "manifest.json"
_JOURNAL: Final = "done.jsonl"
_LOCK: Final = "lock"
_MERGED: Final = "merged"
_OWN: Final = re.compile(r"manifest\.json(\.new)?|done\.jsonl|lock|merged|part-[0-9]{6,}(\.[0-9]+)?")
_WAIT: Final = 5.0  # seconds in which the processes of a run that was killed notice it


class PartsFolder:
    """The parts of one output."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self.path = output.with_name(output.name + FOLDER_SUFFIX)
        self.done: dict[int, Done] = {}
        self.broken: set[str] = set()  # inputs at which a run stopped because they were damaged: they may be mended
        self._fresh = False  # begun by this run
        self._finished = False
        self._journal: IO[bytes] | None = None
        self._lock: IO[bytes] | None = None

    # -- begin

    def open(self, manifest: dict[str, Any], piece_bytes: int, *, overwrite: bool) -> int:
        """Begin, or go on with what was begun by the same manifest; into what pieces that was cut."""
        try:
            if self.output.is_dir():
                raise BatchError(f"{self.output} is a folder; the output is one file", "batch.output")
            if self.output.exists() and not self.output.is_file():
                raise BatchError(f"{self.output} is no file that could be replaced", "batch.output")
            if self.output.exists() and not self.path.exists() and not overwrite:
                raise self._there_already()
            self._take_lock()
            if overwrite:
                self._clear()
            own = {"overwrite": overwrite, "piece_bytes": piece_bytes}
            before = self._read(manifest, own)
            self._journal = (self.path / _JOURNAL).open("ab")
        except OSError as error:
            raise unwritable(Path(error.filename or self.path), error) from None
        return int(before["piece_bytes"])

    def _take_lock(self) -> None:
        """One run at a time; the lock goes with the process that holds it."""
        until = time.monotonic() + _WAIT
        while not self._locked():
            if time.monotonic() > until:
                raise BatchError(f"another run is writing {self.output}", "batch.output")
            time.sleep(0.1)

    def _locked(self) -> bool:
        self.path.mkdir(exist_ok=True)
        names = {path.name for path in self.path.iterdir()}
        strange = sorted(name for name in names if _OWN.fullmatch(name) is None)
        if strange and _MANIFEST not in names:
            raise BatchError(
                f"{self.path} is needed for the parts of the output, and holds something else: {strange[0]}",
                "batch.output",
            )
        path = self.path / _LOCK
        try:
            lock = path.open("ab")
        except FileNotFoundError:  # the run before has just cleared the folder away
            return False
        if not _take(lock) or not (path.exists() and os.path.samestat(path.stat(), os.fstat(lock.fileno()))):
            lock.close()
            return False
        self._lock = lock
        return True

    def _clear(self) -> None:
        # The manifest last: as long as it is there, the folder is known to be ours.
        for path in sorted(self.path.iterdir(), key=lambda path: path.name == _MANIFEST):
            if path.name != _LOCK:
                path.unlink()

    def _read(self, manifest: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
        """What the run was begun with: ``own`` is not to be compared."""
        path = self.path / _MANIFEST
        if path.exists():
            self._read_journal()
            if self.done or self.broken:
                before = self._manifest()
                self._compare({name: value for name, value in before.items() if name not in own}, manifest)
                return before
        if self.output.exists() and not own["overwrite"]:
            raise self._there_already()
        self._clear()  # of a run that was killed before its first part was noted, or while it cleared up
        new = path.with_name(_MANIFEST + ".new")
        new.write_text(json.dumps({**own, **manifest}, indent=1), "utf-8")
        new.replace(path)
        self._fresh = True
        return own

    def _manifest(self) -> dict[str, Any]:
        try:
            manifest = json.loads((self.path / _MANIFEST).read_bytes())
            if isinstance(manifest, dict) and isinstance(manifest.get("piece_bytes"), int):
                return manifest
        except ValueError:
            pass
        raise self.changed(f"{_MANIFEST} is damaged")

    def _there_already(self) -> BatchError:
        return BatchError(f"{self.output} is there already; --overwrite (overwrite=True) replaces it", "batch.output")

    def _compare(self, before: dict[str, Any], manifest: dict[str, Any]) -> None:
        for name in {**before, **manifest}:
            was, now = before.get(name), manifest.get(name)
            if name == "inputs":
                was, now = ([one for one in many or () if one["name"] not in self.broken] for many in (was, now))
            if was == now:
                continue
            if isinstance(was, dict) and isinstance(now, dict):
                name = next(key for key in {**was, **now} if was.get(key) != now.get(key))
                was, now = was.get(name), now.get(name)
            if name == "inputs":
                what = _changed_input(was or [], now or [])
            else:
                what = f"{name} was {was!r:.80} and is {now!r:.80}"
            raise self.changed(what)

    def changed(self, what: str) -> BatchError:
        """What to say if what is there belongs to something else."""
        return BatchError(
            f"{self.path} holds parts that cannot be gone on with: {what}. Give what was given then, or begin anew "
            "with --overwrite (overwrite=True)",
            "batch.changed",
        )

    def _read_journal(self) -> None:
        path = self.path / _JOURNAL
        if not path.exists():
            return
        whole = 0
        data = path.read_bytes()
        for line in data.splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            try:
                entry = json.loads(line)
                if "broken" in entry:
                    self.broken.add(entry["broken"])
                elif "merged" not in entry:
                    done = Done(**entry)
                    self.done[done.number] = done
            except (ValueError, TypeError):
                break
            whole += len(line)
        if whole < len(data):  # the run was killed while it wrote, or the disk was full
            os.truncate(path, whole)
        for number in [number for number, done in self.done.items() if self._size(number) != done.size]:
            del self.done[number]

    def _size(self, number: int) -> int:
        try:
            return (self.path / part_name(number)).stat().st_size
        except OSError:
            return -1

    # -- go on

    def note(self, done: Done) -> None:
        """A part is whole."""
        self._write(done.to_line())
        self.done[done.number] = done

    def note_broken(self, name: str) -> None:
        """An input is damaged, so it may be another when the batch goes on."""
        self._write(json.dumps({"broken": name}))
        self.broken.add(name)

    def _write(self, line: str) -> None:
        assert self._journal is not None
        try:
            self._journal.write(line.encode() + b"\n")
            self._journal.flush()
        except OSError as error:
            raise unwritable(self.path / _JOURNAL, error) from None

    # -- end

    def parts(self, count: int) -> Iterator[bytes]:
        """The parts in order."""
        for number in range(count):
            path = self.path / part_name(number)
            try:
                data = path.read_bytes()
                if digest_of(data) != self.done[number].check:
                    path.unlink()
                    raise BatchError(f"{path} was damaged; the next run writes it again", "batch.output")
            except OSError as error:
                raise BatchError(f"{path} cannot be read: {error.strerror or error}", "batch.output") from None
            yield data

    def finish(self, merge: Any, count: int) -> None:
        """Put the parts together by ``merge(parts, file)``, and put that in the output's place."""
        merged = self.path / _MERGED
        if self.output.exists() and not self._may_replace():
            raise BatchError(f"{self.output} has come to be there meanwhile", "batch.output")
        try:
            with merged.open("wb") as file:
                merge(self.parts(count), file)
                file.flush()
                os.fsync(file.fileno())
                self._write(json.dumps({"merged": os.fstat(file.fileno()).st_ino}))
            merged.replace(self.output)
        except OSError as error:
            raise unwritable(self.output, error) from None
        self._finished = True
        self.close()

    def _may_replace(self) -> bool:
        """Whether the output is known: it was to be overwritten, or it is our own, put there just before a kill."""
        if self._manifest().get("overwrite"):
            return True
        inode = self.output.stat().st_ino
        lines = (self.path / _JOURNAL).read_bytes().splitlines()
        return any(json.loads(line).get("merged") == inode for line in lines)

    def close(self) -> None:
        """Let go of the folder; it goes if nothing in it is of use."""
        lock, self._lock = self._lock, None
        if lock is None:
            return
        with lock:
            if self._journal is not None:
                self._journal.close()
            begun = not self._fresh and (self.path / _MANIFEST).exists()  # by another run, which may be gone on with
            if self._finished or not (begun or self.done or self.broken):
                self._remove(lock)

    def _remove(self, lock: IO[bytes]) -> None:
        """All of the folder while it is still locked. Wherever this is killed, what is left says no more than it is."""
        with suppress(OSError):
            (self.path / _JOURNAL).unlink(missing_ok=True)
            self._clear()
            if sys.platform == "win32":
                lock.close()  # what is open cannot be removed there
            (self.path / _LOCK).unlink()
            self.path.rmdir()


def _take(lock: IO[bytes]) -> bool:
    """Whether the lock is ours now; it is also where the system, or the file system, has no locks."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)
    return True


def _changed_input(was: list[dict[str, Any]], now: list[dict[str, Any]]) -> str:
    names, others = [one["name"] for one in was], [one["name"] for one in now]
    if names != others:
        return f"the inputs were {', '.join(names)!r:.80} and are {', '.join(others)!r:.80}"
    for old, new in zip(was, now, strict=True):
        if old != new:
            return f"{old['name']} has changed: it was {_kind(old)} and is {_kind(new)}"
    return "the inputs differ"


def _kind(one: dict[str, Any]) -> str:
    size = "" if one["size"] is None else f", {one['size']:,} bytes"
    return f"{one['kind']}{size}"
