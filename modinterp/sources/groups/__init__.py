"""Chughtai, Chan and Nanda 2023: networks that compose the elements of finite groups."""
