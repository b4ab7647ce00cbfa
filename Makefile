# The same two commands for those who have make; make.py does the work and needs Python alone.
PYTHON ?= python3

.PHONY: nanda test
nanda test:
	@$(PYTHON) make.py $@
