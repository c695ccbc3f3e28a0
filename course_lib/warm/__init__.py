"""Warm kernels: a process imports a track's packages once, and every notebook's kernel is forked from it.

`switch` turns it on for a command, `provisioner` is what Jupyter calls to start a kernel, `parent` is the process that
imports and forks. docs/warm_kernels.md has the picture.
"""
