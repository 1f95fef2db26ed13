"""`python -m tilesim`: the command line, also from an unpacked clone."""

if __name__ == "__main__":
    from tilesim.cli import main

    main()
