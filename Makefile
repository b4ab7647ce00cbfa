# The same commands for those who have make; make.py does the work and needs Python alone.
PYTHON ?= python3

.PHONY: always
%: always
	@$(PYTHON) make.py $@
Makefile: ;
