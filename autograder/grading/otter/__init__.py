"""The same grade under `otter run` and on Gradescope."""
