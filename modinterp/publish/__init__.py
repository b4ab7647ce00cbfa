"""Publish runs as Hub repositories, and networks with known mechanisms as benchmark cases."""
