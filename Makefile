# The same commands for those who have make; make.py does the work and needs Python alone.
PYTHON ?= python3

.PHONY: nanda clock mlp circuits miiii all test
nanda clock mlp circuits miiii all test:
	@$(PYTHON) make.py $@
