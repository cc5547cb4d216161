"""FunctionGemma: ``<start_function_call>call:name{key:<escape>text<escape>}<end_function_call>``; keys are sorted.

Source: the parsers of vLLM, Ollama and mlx-lm, and Ollama's renderer. There are no escapes: a string that holds the
quote token cannot be written. After its calls the model opens the response, which is where generation stops.
"""

from ..format import Format, Results
from ..pattern import arguments, call, name, ws

FORMAT = Format(
    call(
        "<start_function_call>",
        ws(),
        "call:",
        name(),
        arguments("function_gemma", sort_keys=True),
        ws(),
        "<end_function_call>",
    ),
    title="call: with bare keys and <escape> quotes",
    results=(
        Results("response:{name}{result}<end_function_response>", "<start_function_response>", codec="function_gemma"),
    ),
    turn_ends=("<start_function_response>", "<end_of_turn>", "<eos>"),
    special=("<start_function_call>", "<end_function_call>", "<escape>", "<start_function_response>", "<end_of_turn>"),
    families=("FunctionGemma",),
    engines={"vllm": ("functiongemma",), "ollama": ("functiongemma",), "mlx-lm": ("function_gemma",)},
    models=(r"functiongemma",),
    template=(("<start_function_call>",),),
    source="vLLM, Ollama and mlx-lm parsers",
)
