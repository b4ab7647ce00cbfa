"""The source `groups`: Chughtai, Chan and Nanda 2023, on networks that compose the elements of finite groups."""
