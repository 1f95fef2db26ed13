"""`python -m tilesim`: the command line, also from an unpacked clone."""

from tilesim.cli import main

if __name__ == "__main__":
    main()
