"""A source's claims and figures, measured and put into one table and one page."""
