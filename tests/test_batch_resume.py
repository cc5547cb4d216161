"""A batch that is killed goes on where it was: nothing is lost, nothing is there twice, nothing is mixed up."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from batches import read, write_lines
from toolglot import batch
from toolglot.batch import parts
from toolglot.errors import BatchError

posix = pytest.mark.skipif(os.name != "posix", reason="signals")

RUN = "import sys; from toolglot.cli import main; sys.argv[0] = 'toolglot'; main()"


class Stop(Exception):
    """Stops a run from within, as a signal would."""


def stop_after(rows: int) -> Any:
    def progress(now: batch.Progress) -> None:
        if now.rows >= rows:
            raise Stop

    return progress


def start(file: Path, out: Path, *args: str) -> subprocess.Popen[bytes]:
    """A run in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", RUN, "batch", str(file), str(out), "--keep", "id", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def wait_for_parts(out: Path, count: int, process: subprocess.Popen[bytes]) -> int:
    """Until so many parts are noted; how many are."""
    journal = out.with_name(out.name + ".parts") / "done.jsonl"
    until = time.monotonic() + 90
    while time.monotonic() < until:
        done = journal.read_bytes().count(b"\n") if journal.exists() else 0
        if done >= count:
            return done
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError(f"no {count} parts in time")


@posix
@pytest.mark.timeout(240)
def test_killed_twice(tmp_path: Path) -> None:
    """All processes, by SIGKILL, at moments that are not chosen."""
    file = write_lines(tmp_path / "in.jsonl", 20_000, longest=100)
    out = tmp_path / "out.jsonl"
    before = 0
    for wanted in (2, 5):
        process = start(file, out, "--processes", "2", "--piece-bytes", "150000")
        done = wait_for_parts(out, max(wanted, before + 1), process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert done > before
        assert not out.exists()
        before = done
    process = start(file, out, "--processes", "2", "--json")
    summary = json.loads(process.communicate()[0])
    assert process.returncode == 0
    assert 0 < summary["resumed_rows"] < summary["rows"] == 20_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]

    whole = batch.run(file, tmp_path / "whole.jsonl", keep=["id"], processes=1)
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert summary["formats"] == whole.counts.to_dict()
    found = read(out)
    assert [record["row"] for record in found] == list(range(20_000))
    rows = file.read_bytes().split(b"\n")[:-1]
    given = [json.loads(row).get("id") if row.startswith(b'{"id"') else None for row in rows]
    assert [record["id"] for record in found] == given


@posix
def test_parent_alone_is_killed(tmp_path: Path) -> None:
    """Its processes end by themselves, and the next run does not wait for them."""
    file = write_lines(tmp_path / "in.jsonl", 3000)
    out = tmp_path / "out.jsonl"
    process = start(file, out, "--processes", "2", "--piece-bytes", "20000")
    wait_for_parts(out, 2, process)
    process.kill()
    process.wait()
    until = time.monotonic() + 30
    while True:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        assert time.monotonic() < until, "the processes live on"
        time.sleep(0.05)
    process.communicate()
    assert batch.run(file, out, keep=["id"], processes=1).rows == 3000


@posix
def test_process_that_is_killed_is_a_clear_stop(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "in.jsonl", 6000)
    out = tmp_path / "out.jsonl"
    process = start(file, out, "--processes", "2", "--piece-bytes", "20000")
    wait_for_parts(out, 2, process)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        process.kill()
        process.communicate()
        pytest.skip("this system does not tell a process's children")
    workers = [
        int(pid) for pid in children.read_text().split() if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    os.kill(workers[0], signal.SIGKILL)
    said = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 2, said
    assert "a process died" in said
    assert said.endswith("(batch.worker)\n")
    assert batch.run(file, out, keep=["id"], processes=1).rows == 6000


@posix
def test_pipe_to_a_process_that_is_gone_is_an_error(tmp_path: Path) -> None:
    """The command ends by the signal where its reader goes; its own processes are no such readers."""
    code = (
        "import signal, sys; from toolglot import batch; from toolglot.cli import main\n"
        "real = batch.run\n"
        "def run(*args, **options):\n"
        "    assert signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN\n"
        "    return real(*args, **options)\n"
        "batch.run = run\n"
        "main()"
    )
    file = write_lines(tmp_path / "in.jsonl", 20)
    command = [sys.executable, "-c", code, "batch", str(file), str(tmp_path / "out.jsonl"), "--processes", "1"]
    assert subprocess.run(command, capture_output=True, check=False, timeout=60).returncode == 0


@posix
def test_ctrl_c(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "in.jsonl", 6000)
    out = tmp_path / "out.jsonl"
    process = start(file, out, "--processes", "2", "--piece-bytes", "20000")
    wait_for_parts(out, 2, process)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[1].decode()
    assert (process.returncode, said) == (130, "toolglot: stopped; the same command goes on from here\n")
    assert batch.run(file, out, keep=["id"], processes=1).rows == 6000


@posix
def test_one_run_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_WAIT", 0.2)
    file = write_lines(tmp_path / "in.jsonl", 200)

    def second(now: batch.Progress) -> None:
        with pytest.raises(BatchError, match="another run is writing"):
            batch.run(file, tmp_path / "out.jsonl", processes=1)

    assert batch.run(file, tmp_path / "out.jsonl", processes=1, progress=second).rows == 200


# -- what can be gone on with


def stopped(tmp_path: Path, **options: Any) -> tuple[Path, Path]:
    """A file and the output of a run that was stopped in the middle of it."""
    file = write_lines(tmp_path / "in.jsonl", 400)
    out = tmp_path / "out.jsonl"
    with pytest.raises(Stop):
        batch.run(file, out, processes=1, piece_bytes=5000, progress=stop_after(150), **options)
    assert out.with_name("out.jsonl.parts").exists()
    return file, out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"on_error": "repair"}, "on_error was 'collect' and is 'repair'"),
        ({"keep": ["id"]}, r"keep was \[\] and is \['id'\]"),
        ({"format": "hermes"}, "format was None and is 'hermes'"),
        ({"tools": ["f"]}, "tools was None and is"),
    ],
)
def test_other_options_are_refused(options: dict[str, Any], said: str, tmp_path: Path) -> None:
    file, out = stopped(tmp_path)
    with pytest.raises(BatchError, match=said) as info:
        batch.run(file, out, processes=1, **options)
    assert info.value.code == "batch.changed"
    assert batch.run(file, out, processes=1).resumed_rows > 0


def test_changed_input_is_refused(tmp_path: Path) -> None:
    file, out = stopped(tmp_path)
    data = file.read_bytes()
    for other, said in (
        (data + b'{"text": "more"}\n', "in.jsonl has changed: it was lines, [0-9,]+ bytes and is"),
        (data.replace(b"Paris", b"Milan"), "in.jsonl has changed: line"),
    ):
        file.write_bytes(other)
        with pytest.raises(BatchError, match=said) as info:
            batch.run(file, out, processes=1)
        assert info.value.code == "batch.changed"
    file.rename(tmp_path / "else.jsonl")
    with pytest.raises(BatchError, match="the inputs were"):
        batch.run(tmp_path / "else.jsonl", out, processes=1)
    # What was begun can be thrown away.
    assert batch.run(tmp_path / "else.jsonl", out, processes=1, overwrite=True).resumed_rows == 0


@pytest.mark.parametrize("damage", ["journal", "tail", "other", "gone", "short", "bits"])
def test_folder_that_is_damaged(damage: str, tmp_path: Path) -> None:
    """Whatever a crash of the machine leaves behind, the output is right in the end."""
    file, out = stopped(tmp_path)
    folder = out.with_name("out.jsonl.parts")
    part = folder / "part-000000"
    if damage == "journal":
        (folder / "done.jsonl").unlink()
    elif damage == "tail":
        with (folder / "done.jsonl").open("ab") as journal:
            journal.write(b'{"number": 3, "dig')
    elif damage == "other":
        with (folder / "done.jsonl").open("ab") as journal:
            journal.write(b'5\n{"number": 3}\n')
    elif damage == "gone":
        part.unlink()
    elif damage == "short":
        part.write_bytes(part.read_bytes()[:-10])
    else:
        part.write_bytes(b"\0" * part.stat().st_size)
        with pytest.raises(BatchError, match="was damaged; the next run writes it again"):
            batch.run(file, out, processes=1)
    assert batch.run(file, out, processes=1).rows == 400
    batch.run(file, tmp_path / "once.jsonl", processes=1)
    assert out.read_bytes() == (tmp_path / "once.jsonl").read_bytes()


def test_killed_between_the_output_and_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The output is in its place, its parts are still there: the next run knows its own output."""
    file = write_lines(tmp_path / "in.jsonl", 100)
    out = tmp_path / "out.jsonl"
    with monkeypatch.context() as patched:
        patched.setattr(parts.PartsFolder, "_remove", lambda *args: None)
        batch.run(file, out, processes=1)
    data = out.read_bytes()
    assert out.with_name("out.jsonl.parts").exists()
    assert batch.run(file, out, processes=1).resumed_rows == 100
    assert out.read_bytes() == data
    assert not out.with_name("out.jsonl.parts").exists()


@pytest.mark.parametrize("calls", range(5))
def test_killed_while_the_folder_goes(calls: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever that is: the output stays, and nobody has to clear up by hand."""
    file = write_lines(tmp_path / "in.jsonl", 100)
    out = tmp_path / "out.jsonl"
    unlink, left = Path.unlink, [calls]

    def killed(self: Path, missing_ok: bool = False) -> None:
        if self.parent.suffix == ".parts":
            if not left[0]:
                raise Stop
            left[0] -= 1
        unlink(self, missing_ok=missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", killed)
        try:
            batch.run(file, out, processes=1, piece_bytes=10_000)
        except Stop:
            pass
        else:
            raise AssertionError("there are no more files than that")
    data = out.read_bytes()
    try:
        batch.run(file, out, processes=1)
    except BatchError as error:
        assert "is there already" in str(error)
    assert out.read_bytes() == data
    assert batch.run(file, out, processes=1, overwrite=True).resumed_rows == 0
    assert out.read_bytes() == data
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


@posix
def test_lock_of_a_folder_that_is_gone_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waited for a run that ended holds the lock of a file that nobody else sees."""
    first, second = parts.PartsFolder(tmp_path / "out.jsonl"), parts.PartsFolder(tmp_path / "out.jsonl")
    first.open({}, 1, overwrite=False)
    take = parts._take

    def late(lock: Any) -> bool:
        first.close()  # with nothing done it removes the folder
        return take(lock)

    monkeypatch.setattr(parts, "_take", late)
    second.open({}, 1, overwrite=False)
    assert (second.path / "lock").exists()
    monkeypatch.setattr(parts, "_WAIT", 0.2)
    with pytest.raises(BatchError, match="another run is writing"):
        parts.PartsFolder(tmp_path / "out.jsonl").open({}, 1, overwrite=False)
    second.close()
    assert not second.path.exists()


def test_who_came_too_late_leaves_nothing(tmp_path: Path) -> None:
    """Another run has ended meanwhile: its output is there, and of the folder what this one made to wait in."""
    file = write_lines(tmp_path / "in.jsonl", 5)
    (tmp_path / "out.jsonl").write_text("of the other")
    (tmp_path / "out.jsonl.parts").mkdir()
    with pytest.raises(BatchError, match="is there already"):
        batch.run(file, tmp_path / "out.jsonl", processes=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"{}", b"\xff"])
def test_manifest_that_is_damaged_is_said(damage: bytes, tmp_path: Path) -> None:
    file, out = stopped(tmp_path)
    (out.with_name("out.jsonl.parts") / "manifest.json").write_bytes(damage)
    with pytest.raises(BatchError, match=r"manifest\.json is damaged.*--overwrite") as info:
        batch.run(file, out, processes=1)
    assert info.value.code == "batch.changed"
    assert batch.run(file, out, processes=1, overwrite=True).rows == 400


def test_output_that_came_meanwhile_is_kept(tmp_path: Path) -> None:
    file, out = stopped(tmp_path)
    out.write_text("precious")
    with pytest.raises(BatchError, match="has come to be there meanwhile"):
        batch.run(file, out, processes=1)
    assert out.read_text() == "precious"


def test_overwrite_goes_on_as_it_was_begun(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "in.jsonl", 400)
    out = tmp_path / "out.jsonl"
    out.write_text("old")
    with pytest.raises(Stop):
        batch.run(file, out, processes=1, piece_bytes=5000, progress=stop_after(150), overwrite=True)
    assert out.read_text() == "old"
    assert batch.run(file, out, processes=1).resumed_rows > 0
    assert len(read(out)) == 400


def test_pieces_stay_as_they_were_cut(tmp_path: Path) -> None:
    """The size of a piece is that of the first run."""
    file, out = stopped(tmp_path)
    assert batch.run(file, out, processes=1, piece_bytes=777).resumed_rows > 100


def test_nothing_done_is_nothing_to_go_on_with(tmp_path: Path) -> None:
    """A wrong option may be corrected, and a run that was killed before its first part begun with others."""
    file = write_lines(tmp_path / "in.jsonl", 50)
    out = tmp_path / "out.jsonl"
    with pytest.raises(BatchError, match="no column 'txt'"):
        batch.run(file, out, processes=1, text_column="txt")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl"]
    folder = parts.PartsFolder(out)
    folder.open({"options": {}}, 1, overwrite=False)
    folder._fresh = False  # killed: nothing is cleared away
    folder.close()
    assert folder.path.exists()
    assert batch.run(file, out, processes=1).rows == 50


def test_input_that_ends_sooner_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard input may be cut where a piece ends; the parts behind are of something else then."""
    file = write_lines(tmp_path / "in.jsonl", 200)
    out = tmp_path / "out.jsonl"
    data = file.read_bytes()

    def given(text: bytes) -> None:
        class Stdin:
            buffer = io.BufferedReader(io.BytesIO(text))  # type: ignore[arg-type]

            def isatty(self) -> bool:
                return False

        monkeypatch.setattr(sys, "stdin", Stdin())

    given(data)
    with pytest.raises(Stop):
        batch.run("-", out, processes=1, piece_bytes=4000, progress=stop_after(100))
    given(data[: data.rindex(b"\n", 0, 4000) + 1])
    with pytest.raises(BatchError, match="ends before the rows that are done") as info:
        batch.run("-", out, processes=1)
    assert info.value.code == "batch.changed"
    given(data)
    assert batch.run("-", out, processes=1).rows == 200


def test_standard_input_again(tmp_path: Path) -> None:
    """What was piped in can be piped in again; something else is refused."""
    file = write_lines(tmp_path / "in.jsonl", 3000)
    out = tmp_path / "out.jsonl"
    command = [sys.executable, "-c", RUN, "batch", "-", str(out), "--processes", "1", "--piece-bytes", "20000"]
    with file.open("rb") as given, subprocess.Popen(command, stdin=given, stderr=subprocess.PIPE) as process:
        wait_for_parts(out, 2, process)
        process.kill()
        process.communicate()
    other = subprocess.run(command, input=b'{"text": "a"}\n' * 3000, capture_output=True, check=False, timeout=60)
    assert other.returncode == 2
    assert b"(batch.changed)" in other.stderr
    again = subprocess.run([*command, "--json"], input=file.read_bytes(), capture_output=True, check=True, timeout=90)
    summary = json.loads(again.stdout)
    assert summary["rows"] == 3000
    assert summary["resumed_rows"] > 0
