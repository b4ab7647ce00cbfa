"""How annotations are checked while the tests run: an int will do for a float, as in every Python type checker."""

from beartype import BeartypeConf, beartype

checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
