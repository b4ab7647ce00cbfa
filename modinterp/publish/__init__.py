"""Exports in the layouts of other projects: repositories of the Hub, and networks whose mechanism is known."""
