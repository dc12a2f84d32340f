"""The example of CONTRIBUTING.md as a package of its own, and a fresh environment to install it into."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "minimal-gru"
version = "0.1"

[tool.hatch.build.targets.wheel]
packages = ["minimal"]

"""
ENTRY_POINT = re.compile(r'```toml\n(\[project\.entry-points\."seqlab\.architectures"\]\n(.*?)\n)```', re.DOTALL)


def contributing() -> str:
    return (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def write_package(folder: Path) -> Path:
    """The source of the package, with the code and the entry point as CONTRIBUTING.md has them."""
    code, point = re.search(r'```python\n(""".*?)```', contributing(), re.DOTALL), ENTRY_POINT.search(contributing())
    assert code and point
    (folder / "minimal").mkdir(parents=True)
    (folder / "minimal" / "__init__.py").write_text("", encoding="utf-8")
    (folder / "minimal" / "gru.py").write_text(code[1], encoding="utf-8")
    (folder / "pyproject.toml").write_text(PYPROJECT + point[1], encoding="utf-8")
    return folder


def fresh_environment(folder: Path) -> Path:
    """A virtual environment that sees this one's packages and this repository; the path of its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    seen = [str(ROOT), *(entry for entry in sys.path if entry.endswith("site-packages"))]
    (site_packages(python) / "seen.pth").write_text("\n".join(seen), encoding="utf-8")
    return python


def site_packages(python: Path) -> Path:
    return next((python.parents[1] / "lib").glob("python*")) / "site-packages"


def install_by_hand(python: Path, package: Path) -> None:
    """What an installer leaves behind, since building a wheel needs a backend that may not be there offline."""
    point = ENTRY_POINT.search(contributing())
    assert point
    target = site_packages(python)
    (target / "minimal-gru.pth").write_text(str(package), encoding="utf-8")
    info = target / "minimal_gru-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: minimal-gru\nVersion: 0.1\n", encoding="utf-8")
    line = point[2].replace('"', "")
    (info / "entry_points.txt").write_text(f"[seqlab.architectures]\n{line}\n", encoding="utf-8")
