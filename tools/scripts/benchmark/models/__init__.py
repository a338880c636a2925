"""The benchmark's networks. `MODELS` maps a name to a function that makes the ONNX model.

Every family is a module of its own: the architectures layer for layer as published, with random weights.
"""

from . import compact, dense, language, plain, residual, sequences, vision

MODELS = {}
for family in (residual, plain, compact, dense, vision, language, sequences):
    MODELS.update(family.MODELS)
