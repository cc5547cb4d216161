"""Toolglot against llm-beacon, on thousands of generated and mutated texts."""
