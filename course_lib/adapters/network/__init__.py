"""Adapters of the kind `network`: a model with remembered statistics and with dropout. One module per track."""
