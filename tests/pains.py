"""The recurring pains of tool calling over providers' APIs, and which tests hold each of them down.

``python tests/pains.py`` prints the table, and fails if a test that is named here is not there, or a pain has none.
A recorded case says so itself: its tag is ``pain`` and the pain's key. All other tests are named here: a case as
``wire format/case``, a history as ``histories/id``, a test as ``file.py::test``.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent

# Key: what goes wrong elsewhere, and the tests that are not recorded cases with its tag.
PAINS: dict[str, tuple[str, list[str]]] = {
    "1": (
        "Gemini's thoughtSignature is lost, mostly in streams",
        ["gemini/stream", "gemini/calls", "test_providers.py::test_written_back"],
    ),
    "2": (
        "a signature in an id goes to other providers",
        ["test_providers.py::test_nothing_of_one_provider_goes_to_another"],
    ),
    "3": ("extra_content of Gemini's compatible endpoint is dropped from streams", []),
    "4": ("parallel calls that share an index are made one", []),
    "5": ("there is no index", ["test_stream_traps.py::test_keys_that_are_none"]),
    "6": (
        "pieces of calls that take turns go to the last call",
        ["test_stream_properties.py::test_any_cut_gives_the_whole"],
    ),
    "7": ("names and ids that are sent again are joined", ["test_stream_properties.py::test_any_cut_gives_the_whole"]),
    "8": ("an empty name that comes later counts", []),
    "9": (
        "empty arguments of a tool without parameters are an error",
        ["bedrock/stream_no_arguments", "anthropic/stream_no_arguments", "test_stream_traps.py::test_white_space"],
    ),
    "10": ("the empty object of the beginning is glued to the arguments", ["anthropic/stream"]),
    "11": (
        "arguments that come whole, at the beginning or the end, are not seen",
        ["anthropic/stream_start_input"],
    ),
    "12": (
        "arguments that were cut off are run, or are made an empty object",
        ["test_streams.py::test_a_dropped_connection", "anthropic/truncated", "bedrock/truncated", "gemini/truncated"],
    ),
    "13": (
        "Gemini's parallel calls are taken for one",
        ["gemini/calls", "gemini/stream_parallel", "gemini/stream_no_ids"],
    ),
    "14": (
        "Vertex's partial arguments are not understood, or their end is missed",
        ["gemini/stream", "gemini/stream_partial_array", "gemini/stream_partial_two", "gemini/stream_partial_cut"],
    ),
    "15": (
        "ids are the same in several turns",
        ["test_histories.py::test_ids_that_come_again_are_paired_by_the_turn"],
    ),
    "16": (
        "ids are not legal where they go",
        ["test_providers.py::test_foreign_names_and_ids_fit", "test_histories.py::test_ids_never_collide"],
    ),
    "17": ("results are split over messages, or in another order", ["test_histories.py::test_repairs"]),
    "18": (
        "a call without its result, or a result without its call",
        ["test_histories.py::test_a_history_may_be_trimmed_anywhere", "test_histories.py::test_faults"],
    ),
    "19": ("text stands behind calls or before results", ["test_histories.py::test_repairs", "histories/anthropic"]),
    "20": (
        "Bedrock wants the tools of a history declared",
        ["histories/bedrock", "test_histories.py::test_faults", "test_histories.py::test_repairs"],
    ),
    "21": (
        "Mistral takes no user behind a tool",
        ["histories/mistral", "test_histories.py::test_faults", "test_histories.py::test_repairs"],
    ),
    "22": (
        "a schema's $ref, anyOf, const, oneOf or list of types is refused",
        ["test_schema.py::test_narrow", "test_schema.py::test_references_are_written_out"],
    ),
    "23": (
        "strict is claimed of a schema that is not, and its forced nulls are not valid",
        [
            "test_schema.py::test_strict_closes_every_object",
            "test_schema.py::test_what_cannot_be_strict_says_so",
            "test_schema.py::test_what_strict_mode_allows_is_valid_again_without_its_nulls",
            "test_providers.py::test_nulls_that_strict_mode_forced_come_out",
        ],
    ),
    "24": (
        "names of tools are too long, or have dots",
        ["test_schema.py::test_every_name_fits", "test_schema.py::test_a_collision_is_resolved"],
    ),
    "25": ("Gemini takes only an object as a result", ["gemini/results", "gemini/results_wrapped"]),
    "26": (
        "reasons that say that something went wrong are taken for an end like any other",
        ["gemini/malformed_call", "gemini/stream_malformed", "gemini/blocked", "bedrock/stream_malformed"],
    ),
    "27": (
        "calls that the provider ran are lost, or run again",
        [
            "anthropic/server_calls",
            "bedrock/server_calls",
            "gemini_interactions/server_calls",
            "openai_responses/answered",
        ],
    ),
    "28": (
        "results of MCP lose their structure or their parts",
        ["mcp/results", "test_mcp_results.py::test_an_answer_goes_to_every_provider"],
    ),
    "reasoning": (
        "reasoning that has to go back does not",
        ["openai_chat/deepseek_assistant", "anthropic/calls", "test_histories.py::test_own_history"],
    ),
    "reason": ("the reason to stop lies, both ways", ["openai_chat/reason_lies"]),
    "parity": (
        "streams and whole answers are read by different code, and lose different things",
        ["ollama/stream", "gemini/stream", "test_stream_properties.py::test_any_cut_gives_the_whole"],
    ),
}


def tagged() -> dict[str, list[str]]:
    """The recorded cases of each pain."""
    found: dict[str, list[str]] = {}
    for path in sorted((TESTS / "providers").glob("*/*.json")):
        for tag in json.loads(path.read_text("utf-8"))["tags"]:
            if tag.startswith("pain "):
                found.setdefault(tag.removeprefix("pain "), []).append(f"{path.parent.name}/{path.stem}")
    return found


def _exists(name: str) -> bool:
    file, _, test = name.partition("::")
    if not test:
        return (TESTS / ("" if name.startswith("histories/") else "providers") / f"{name}.json").exists()
    if not (TESTS / file).exists():
        return False
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == test for node in tree.body)


def faults() -> Iterator[str]:
    """What is wrong with the table."""
    cases = tagged()
    for key in sorted(cases.keys() - PAINS.keys()):
        yield f"{cases[key][0]}: there is no pain {key}"
    for key, (_, names) in PAINS.items():
        for name in names:
            if not _exists(name):
                yield f"pain {key}: there is no {name}"
        if not names and not cases.get(key):
            yield f"pain {key} has no test"


def main() -> int:
    """Print the table."""
    cases = tagged()
    for key, (what, names) in PAINS.items():
        print(f"{key:>9}  {what}")
        for name in [*cases.get(key, []), *names]:
            print(f"{'':>11}{name}")
    wrong = list(faults())
    for fault in wrong:
        print(fault, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
