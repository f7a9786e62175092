# SPDX-License-Identifier: BSD-2-Clause
"""Modules, functions and classes of packages that as a whole import what these do not need."""
import ast
import importlib
import importlib.util
import os
import sys
import types


def root(package):
    if package in sys.modules:
        return sys.modules[package].__path__[0]
    return os.path.dirname(importlib.util.find_spec(package).origin)


def module(name):
    """The module PACKAGE.NAME, without what PACKAGE's __init__ imports."""
    package = name.split(".")[0]
    if package not in sys.modules:
        path = root(package)
        sys.modules[package] = types.ModuleType(package)
        sys.modules[package].__path__ = [path]
    return importlib.import_module(name)


def definitions(package, path, names, **others):
    """The functions and classes of these names in PACKAGE/PATH, which use `others` and each other."""
    with open(os.path.join(root(package), path)) as file:
        tree = ast.parse(file.read())
    tree.body = [node for node in tree.body
                 if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in names]
    assert len(tree.body) == len(names)
    scope = dict(others)
    exec(compile(tree, path, "exec"), scope)
    return [scope[name] for name in names]
