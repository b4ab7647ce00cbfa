"""How the commands speak: help, errors of one line, suggestions, progress bars; nothing heavy is imported."""
