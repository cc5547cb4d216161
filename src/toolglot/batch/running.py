"""`run`: a whole batch, on all cores, that can be stopped at any moment and gone on with."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ..errors import BatchError
from ..registry import REGISTRY
from .options import Options
from .parts import PartsFolder
from .rows import RowReader
from .sources import LineCutter, Piece, Source, digest_of, find_sources, piece_size
from .summary import Counts, Summary
from .work import Done, Job, Worker, do, read_line, start, tuned

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

_LOOKED_AT = 1000  # lines in which a column has to be
_SMALL = 1 << 20  # bytes of lines that are read sooner than other processes have started
_KINDS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".jsonl.gz": "gzip", ".ndjson.gz": "gzip", ".parquet": "parquet"}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a batch is: rows written, those of them with errors, and of how many bytes how many are read.

    ``resumed_rows`` were there already. ``total`` is None where it cannot be known (standard input).
    """

    rows: int
    rows_with_errors: int
    resumed_rows: int
    done: int
    total: int | None


def run(
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    processes: int | None = None,
    overwrite: bool = False,
    progress: Callable[[Progress], None] | None = None,
    piece_bytes: int | None = None,
    **options: Any,
) -> Summary:
    """Read every row of the inputs, and write a row for each, in order; what it came to.

    ``inputs`` are files (JSON lines, plain or packed by gzip; Parquet), folders of them, or ``"-"`` for standard
    input. ``output`` is a file whose suffix says what it becomes: ``.jsonl``, ``.jsonl.gz`` or ``.parquet``.
    The options are the fields of `Options`. What was stopped, by whatever, goes on when it is called again with the
    same arguments. What ends it is a `BatchError`.

    ``piece_bytes`` is how much of the input a process reads at a time and loses if it is killed; it does not change the
    output, nor can it be changed when a run goes on.

    With more than one of ``processes`` (None: as many as there are cores, one for small files) it starts Python anew
    in each, so a script calls it under ``if __name__ == "__main__":``.
    """
    _not_in_a_process_that_starts()
    chosen = Options(**options)
    RowReader(chosen)  # what is wrong with the options shows before anything is read
    target = Path(os.path.realpath(output))
    kind = _kind_of(target)
    if isinstance(inputs, (str, os.PathLike)):
        inputs = [inputs]
    if processes is not None and processes < 1:
        raise ValueError(f"processes: expected at least 1, got {processes}")
    if piece_bytes is not None and piece_bytes < 1:
        raise ValueError(f"piece_bytes: expected at least 1, got {piece_bytes}")
    if not os.path.isdir(target.parent):
        raise BatchError(f"the folder {target.parent} is not there", "batch.output")
    found = find_sources(inputs, target)
    batch = _Batch(chosen, found.sources, target, kind, processes or _processes(found.sources), progress, piece_bytes)
    summary = batch.run(overwrite)
    summary.left_out = found.left_out
    return summary


def _not_in_a_process_that_starts() -> None:
    """A process imports the script that started it: a call that is not guarded there would be made once more."""
    process = sys.modules.get("multiprocessing.process")
    if process is not None and getattr(process.current_process(), "_inheriting", False):
        raise RuntimeError('batch.run() is called with several processes: call it under `if __name__ == "__main__":`')


def _kind_of(output: Path) -> str:
    for suffix, kind in _KINDS.items():
        if output.name.endswith(suffix):
            return kind
    raise BatchError(f"{output.name}: the output's name ends with one of {', '.join(_KINDS)}", "batch.output")


def _processes(sources: list[Source]) -> int:
    """As many as there are cores that this process may use; one for what is read sooner than others have started."""
    if all(source.kind == "lines" and source.size is not None for source in sources):
        if sum(source.size or 0 for source in sources) <= _SMALL:
            return 1
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


class _Batch:
    def __init__(
        self,
        options: Options,
        sources: list[Source],
        output: Path,
        kind: str,
        processes: int,
        progress: Callable[[Progress], None] | None,
        piece_bytes: int | None,
    ) -> None:
        self._options = options
        self._sources = sources
        self._output = output
        self._kind = kind
        self._processes = processes
        self._progress = progress
        self._folder = PartsFolder(output)
        self._counts = Counts()
        self._seen: set[str] = set()
        self._resumed = 0
        self._pieces = 0
        self._read = 0
        sizes = [source.size for source in sources]
        self._total = None if None in sizes else sum(size or 0 for size in sizes)
        self._columns: Any = None
        self._size = piece_bytes or piece_size(sources)

    def run(self, overwrite: bool) -> Summary:
        """Everything."""
        begin = time.perf_counter()
        manifest = self._manifest()
        try:
            self._size = self._folder.open(manifest, self._size, overwrite=overwrite)
            self._work()
            if max(self._folder.done, default=-1) >= self._pieces:
                raise self._folder.changed("the input ends before the rows that are done")
            self._folder.finish(self._merge(), self._pieces)
        finally:
            self._folder.close()
        unseen = [name for name in self._options.other_columns if name not in self._seen]
        return Summary(
            str(self._output),
            self._counts,
            time.perf_counter() - begin,
            self._processes,
            self._resumed,
            unseen=unseen if self._pieces else [],
        )

    def _manifest(self) -> dict[str, Any]:
        """What has to be the same for parts to belong together. Reads the columns of Parquet."""
        inputs = []
        schemas = []
        versions = {"toolglot": sys.modules["toolglot"].__version__}
        for source in self._sources:
            described: dict[str, Any] = {"name": source.name, "kind": source.kind, "size": source.size}
            if source.kind == "parquet":
                from . import parquet

                versions["pyarrow"] = parquet.VERSION
                schemas.append(parquet.columns_of(source, self._options))
            inputs.append(described)
        if self._kind == "parquet":
            from . import parquet

            versions["pyarrow"] = parquet.VERSION
            same = schemas if len(schemas) == len(self._sources) else []
            for columns, source in zip(same, self._sources, strict=False):
                for name in self._options.keep:
                    if columns.field(name).type != same[0].field(name).type:
                        raise BatchError(
                            f"{source.label}: {name!r} is {columns.field(name).type}, and in "
                            f"{self._sources[0].label} {same[0].field(name).type}",
                            "batch.columns",
                        )
            self._columns = parquet.output_schema(same[0] if same else None, self._options)
        return {
            "versions": versions,
            "output": self._kind,
            "options": self._options.to_dict(),
            "formats": {fmt.id: digest_of(repr(fmt).encode()) for fmt in REGISTRY.added()},
            "inputs": inputs,
        }

    def _all_pieces(self) -> Iterator[Piece]:
        number = row = done = 0
        for source in self._sources:
            if source.kind == "parquet":
                from . import parquet

                pieces = parquet.pieces(source, self._options, self._size, number, row, done)
            else:
                pieces = LineCutter(source, self._size, number, row, done).pieces()
            try:
                for piece in pieces:
                    if piece.line == 1 and piece.kind == "lines" and source is self._sources[0]:
                        self._look(source, piece)
                    number = piece.number + 1
                    row = piece.row + piece.rows
                    yield piece
            except BatchError as error:
                if error.code == "batch.input":
                    self._folder.note_broken(source.name)
                raise
            done += source.size or 0
        self._pieces = number

    def _look(self, source: Source, piece: Piece) -> None:
        """A column that no row at the beginning has is a mistake of the caller, not of each row."""
        first = piece.data.split(b"\n", _LOOKED_AT)[:_LOOKED_AT]
        rows = [row for row in map(read_line, first) if not isinstance(row, BatchError)]
        if rows and not any(self._options.read_column in row for row in rows):
            known = ", ".join(map(repr, list(rows[0])[:20])) or "none"
            raise BatchError(
                f"{source.label} has no column {self._options.read_column!r}; its first row has {known}",
                "batch.columns",
            )

    def _to_do(self) -> Iterator[Piece]:
        """The pieces that are not done; those that are have to be what they were."""
        for piece in self._all_pieces():
            done = self._folder.done.get(piece.number)
            if done is None:
                yield piece
                continue
            if (done.digest, done.rows) != (piece.digest, piece.rows):
                first = f"line {piece.line:,} or one of the {piece.rows:,} from there"
                raise self._folder.changed(f"{piece.file or 'the input'} has changed: {first}")
            self._resumed += done.rows
            self._add(done, piece.done)

    def _add(self, done: Done, read: int) -> None:
        self._counts.add(Counts.of(done.counts))
        self._seen.update(done.seen)
        self._read = max(self._read, read)
        if self._progress is not None:
            total = self._counts.total()
            self._progress(Progress(total.rows, total.rows_with_errors, self._resumed, self._read, self._total))

    def _work(self) -> None:
        job = Job(self._options, self._kind, self._folder.path, self._columns, REGISTRY.added())
        if self._processes == 1:
            with tuned():
                worker = Worker(job)
                for piece in self._to_do():
                    self._finished(worker.do(piece), piece.done)
            return
        from concurrent.futures import ProcessPoolExecutor  # dear to import, also where only a code is explained
        from multiprocessing import get_context

        with ExitStack() as stack:
            pool = ProcessPoolExecutor(self._processes, get_context("spawn"), start, (job,))
            stack.callback(pool.shutdown, wait=True, cancel_futures=True)
            running: dict[Future[Done], Piece] = {}
            try:
                for piece in self._to_do():
                    running[self._submit(pool, piece)] = piece._replace(data=b"")
                    if len(running) >= 2 * self._processes:
                        self._collect(running)
            except BatchError:
                with suppress(BatchError):  # what is begun is not to be done again
                    self._collect_all(running)
                raise
            self._collect_all(running)

    def _submit(self, pool: ProcessPoolExecutor, piece: Piece) -> Future[Done]:
        from concurrent.futures.process import BrokenProcessPool

        try:
            with _deaf():
                return pool.submit(do, piece)
        except BrokenProcessPool:
            raise _died([piece]) from None

    def _collect(self, running: dict[Future[Done], Piece]) -> None:
        """What has been done meanwhile, at least one part."""
        from concurrent.futures import FIRST_COMPLETED, wait
        from concurrent.futures.process import BrokenProcessPool

        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            try:
                done = future.result()
            except BrokenProcessPool:
                raise _died(list(running.values())) from None
            self._finished(done, running.pop(future).done)

    def _collect_all(self, running: dict[Future[Done], Piece]) -> None:
        while running:
            self._collect(running)

    def _finished(self, done: Done, read: int) -> None:
        self._folder.note(done)
        self._add(done, read)

    def _merge(self) -> Callable[[Iterable[bytes], BinaryIO], None]:
        if self._kind == "parquet":
            from . import parquet

            return partial(_merge_parquet, parquet.merge, self._columns)
        return _join


@contextmanager
def _deaf() -> Iterator[None]:
    """Ctrl-C waits until this is over. A process that is started meanwhile never hears it: it is for the parent."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _join(parts: Iterable[bytes], file: BinaryIO) -> None:
    file.writelines(parts)


def _merge_parquet(merge: Any, columns: Any, parts: Iterable[bytes], file: BinaryIO) -> None:
    merge(parts, columns, file)


def _died(pieces: list[Piece]) -> BatchError:
    first = min(piece.row for piece in pieces)
    last = max(piece.row + piece.rows for piece in pieces) - 1
    return BatchError(
        f"a process died, of rows {first:,} to {last:,}: it was killed, or there was not enough memory. The same "
        "command goes on from there",
        "batch.worker",
    )
