"""How arguments are spelled: JSON, other dialects of literals, and bare text."""
