"""The commands: each file holds one, and stands at the end of all imports."""
