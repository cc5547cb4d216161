"""JSON Schema for providers that take only a part of it, and what is lost on the way."""
