"""Toolglot against the program behind the first seed document, on thousands of generated and mutated texts."""
