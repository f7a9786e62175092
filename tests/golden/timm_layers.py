# SPDX-License-Identifier: BSD-2-Clause
"""timm's layers one by one: the package as a whole imports torchvision, which these do not need."""
import importlib
import importlib.metadata
import importlib.util
import os
import sys
import types

assert importlib.metadata.version("timm") == "1.0.31"


def layer(name):
    """The module timm.layers.NAME."""
    root = os.path.dirname(importlib.util.find_spec("timm").origin)
    for package, path in (("timm", root), ("timm.layers", os.path.join(root, "layers"))):
        if package not in sys.modules:
            sys.modules[package] = types.ModuleType(package)
            sys.modules[package].__path__ = [path]
    return importlib.import_module("timm.layers." + name)
