from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[1]
# last, so that installed packages take precedence
sys.path.append(str(FOLDER / "tests" / "stand_ins"))


@pytest.fixture(scope="session")
def package() -> ModuleType:
    """Imports the nodes from their path, as ComfyUI does."""
    spec = importlib.util.spec_from_file_location("custom_nodes.winnow", FOLDER / "__init__.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def service(package: ModuleType) -> ModuleType:
    return sys.modules[f"{package.__name__}.service"]


@pytest.fixture
def audio(package: ModuleType) -> ModuleType:
    return sys.modules[f"{package.__name__}.audio"]
