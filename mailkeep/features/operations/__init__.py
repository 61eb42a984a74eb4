"""The state of the server itself: health."""
