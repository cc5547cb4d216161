"""``python -m toolglot.cli``."""

from . import main

if __name__ == "__main__":
    main()
