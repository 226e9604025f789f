"""The local page on which runs are trained, watched and compared, and its server."""
