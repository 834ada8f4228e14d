"""``python -m bncc`` is the command line."""

from bncc.cli.main import main

if __name__ == "__main__":
    main()
