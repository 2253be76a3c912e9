"""The archive of sources and the wheel that it makes, by `python3 -m build`; the wheel in an empty environment, where PATH has no compiler. Minutes."""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from typing import ClassVar

import numpy as np
from support import ROOT, main

TESTS = pathlib.Path(__file__).resolve().parent
MOST = 4_000_000  # bytes of a wheel
# What the libraries may ask of a system, beside each other: the C library, and those of pictures.
SYSTEM = re.compile(r"lib(c|m|dl|pthread|png16|jpeg|z|webp|webpdemux|tiff|heed)\.so|ld-linux|ld-musl")


def copied(place: pathlib.Path) -> pathlib.Path:
    """The repository by links, with a native/python of its own: building writes beside its sources."""
    for name in ("CMakeLists.txt", "LICENSE", "runtime", "shaders", "docs", "web", "node_modules"):
        if (ROOT / name).exists():
            (place / name).symlink_to(ROOT / name)
    (place / "native").mkdir()
    for one in (ROOT / "native").iterdir():
        if one.name != "python":
            (place / "native" / one.name).symlink_to(one)
    shutil.copytree(ROOT / "native/python", place / "native/python", ignore=shutil.ignore_patterns("*.egg-info", "__pycache__", "_abi.py", "build", "demo"))
    return place / "native/python"


class Wheel(unittest.TestCase):
    place: ClassVar[pathlib.Path]
    wheel: ClassVar[pathlib.Path]
    sources: ClassVar[pathlib.Path]

    @classmethod
    def setUpClass(cls) -> None:
        lacks = [name for name in ("build", "setuptools", "wheel", "pycparser") if importlib.util.find_spec(name) is None]
        if lacks:
            raise unittest.SkipTest(f"no {', '.join(lacks)} here")
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.place = pathlib.Path(holder.name)
        (cls.place / "tree").mkdir()
        options = ["-DHEED_TIFF=OFF", *(["-GNinja"] if shutil.which("ninja") else [])]
        if shutil.which("ccache"):
            options.append("-DCMAKE_C_COMPILER_LAUNCHER=ccache")
        done = subprocess.run([sys.executable, "-m", "build", "--no-isolation", "--outdir", str(cls.place / "dist"), str(copied(cls.place / "tree"))],
                              capture_output=True, text=True, cwd=cls.place, env={**os.environ, "HEED_CMAKE_OPTIONS": " ".join(options)})
        if done.returncode:
            raise AssertionError((done.stdout + done.stderr)[-4000:])
        cls.wheel, = (cls.place / "dist").glob("*.whl")
        cls.sources, = (cls.place / "dist").glob("*.tar.gz")

    def test_what_is_inside(self) -> None:
        self.assertRegex(self.wheel.name, r"^heed-[0-9.]+-py3-none-linux_\w+\.whl$")
        print(f"# {self.wheel.name}: {self.wheel.stat().st_size} bytes; {self.sources.name}: {self.sources.stat().st_size} bytes", flush=True)
        self.assertLessEqual(self.wheel.stat().st_size, MOST)
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
            metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
            archive.extractall(self.place / "unpacked")
        for name in ("heed/py.typed", "heed/_abi.py", "heed/demo/model.safetensors", "heed/demo/scene.png", "heed/LICENSE"):
            self.assertIn(name, names)
        self.assertFalse([name for name in names if "tests/" in name or name.endswith((".o", ".a", ".pyc"))])
        self.assertEqual(re.findall(r"^Requires-Dist: (\w+)(?!.*extra)", metadata, re.M), ["numpy"])
        for library in (self.place / "unpacked/heed/lib").iterdir():
            needs = re.findall(r"\(NEEDED\).*\[(.*)\]", subprocess.run(["readelf", "-d", str(library)], capture_output=True, text=True, check=True).stdout)
            self.assertTrue(needs)
            for need in needs:
                self.assertRegex(need, SYSTEM)

    def test_in_an_empty_environment(self) -> None:
        there = self.place / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(there)], check=True)
        python = there / "bin/python3"
        site = next(there.glob("lib/python3*/site-packages"))
        (site / "numpy").symlink_to(pathlib.Path(np.__file__).parent)  # there is no index to have it from
        subprocess.run([sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index", "--no-deps", "-q", str(self.wheel)], check=True,
                       env={**os.environ, "PIP_ROOT_USER_ACTION": "ignore"})
        self.assertTrue((site / "heed/lib").is_dir())
        empty = self.place / "empty"
        empty.mkdir()
        alone = {"PATH": str(empty), "HOME": str(empty)}
        done = subprocess.run([str(python), "-I", "-W", "error", str(TESTS / "smoke.py")], capture_output=True, text=True, cwd=empty, env=alone)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(str(site / "heed"), done.stdout)


if __name__ == "__main__":
    main()
