"""Packages that extend seqlab, and a fresh environment to install them into."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOLKIT = Path(__file__).parent / "toolkit"
PYPROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "minimal-gru"
version = "0.1"

[tool.setuptools]
packages = ["minimal"]

"""


def write_minimal_gru(folder: Path) -> Path:
    """The example of CONTRIBUTING.md as a package of its own, with the code and the entry point as they are there."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    code = re.search(r'```python\n(""".*?)```', page, re.DOTALL)
    entry_point = re.search(r'```toml\n(\[project\.entry-points\."seqlab\.architectures"\]\n.*?\n)```', page, re.DOTALL)
    assert code and entry_point
    (folder / "minimal").mkdir(parents=True)
    (folder / "minimal" / "__init__.py").write_text("", encoding="utf-8")
    (folder / "minimal" / "gru.py").write_text(code[1], encoding="utf-8")
    (folder / "pyproject.toml").write_text(PYPROJECT + entry_point[1], encoding="utf-8")
    return folder


def fresh_environment(folder: Path, *packages: Path) -> Path:
    """A virtual environment with these packages, beside all that this one has; the path of its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site_packages = next((folder / "lib").glob("python*")) / "site-packages"
    visible = [str(ROOT), *(entry for entry in sys.path if entry.endswith("site-packages"))]
    (site_packages / "visible.pth").write_text("\n".join(visible), encoding="utf-8")
    for package in packages:
        install_by_hand(package, site_packages)
    return folder / "bin" / "python"


def install_by_hand(package: Path, site_packages: Path) -> None:
    """Write what an editable install leaves behind, since a build backend may be missing offline."""
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name, version = project["name"], project["version"]
    (site_packages / f"{name}.pth").write_text(str(package), encoding="utf-8")
    info = site_packages / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    groups = (
        f"[{group}]\n" + "".join(f"{key} = {target}\n" for key, target in points.items())
        for group, points in project["entry-points"].items()
    )
    (info / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")


def run_in(folder: Path, python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, on one thread, without the plugins and paths of this process."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SEQLAB_PLUGINS")}
    environment["OMP_NUM_THREADS"] = "1"
    return subprocess.run(
        [python, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=280
    )
