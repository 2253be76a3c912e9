"""Builds the wheel: the shared libraries by CMake, _abi.py from the headers. pyproject.toml has the rest.

A wheel has no Python extension, so one serves every Python 3 of its platform."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
# In an archive of sources the tree of C lies beside this file; in the repository it is two folders up.
ROOT = HERE / "heed" if (HERE / "heed/CMakeLists.txt").exists() else HERE.parents[1]
SOURCES = ["CMakeLists.txt", "LICENSE", "runtime", "shaders", "native", "docs/models.md"]


def version() -> str:
    """The version that CMakeLists.txt names."""
    found = re.search(r"^project\(heed VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)
    if not found:
        raise SystemExit("setup.py: CMakeLists.txt names no version (expected project(heed VERSION ...))")
    return found[1]


def put_cell(package: pathlib.Path) -> None:
    """The notebook's cell with heed/plot inside: an archive of sources has it made; in the repository npm's esbuild makes it."""
    package.mkdir(parents=True, exist_ok=True)
    if (HERE / "cell/cell.html").exists():
        shutil.copytree(HERE / "cell", package, dirs_exist_ok=True)
        return
    node = shutil.which("node")
    if node and (ROOT / "node_modules/esbuild").exists():
        subprocess.run([node, str(ROOT / "web/build/cell.js"), str(package)], check=True)
    else:
        print("setup.py: no cell for notebooks: it needs node, and npm ci in the repository", file=sys.stderr)


class Build(build_py):
    def run(self) -> None:
        super().run()
        windows = self.get_finalized_command("bdist_wheel").plat_name.startswith("win")  # also from another system, by --plat-name win_amd64
        mac = sys.platform == "darwin" and not windows
        package = pathlib.Path(self.build_lib, "heed")
        build = pathlib.Path(self.get_finalized_command("build").build_temp).resolve() / "cmake"
        options = os.environ.get("HEED_CMAKE_OPTIONS", "").split()
        targets = ["heed_shared"] if windows else ["heed_shared", "heed_shared_native"]
        subprocess.run(["cmake", "-S", str(ROOT), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=ON", "-DHEED_CLI=OFF",
                        "-DHEED_TESTS=OFF", "-DHEED_CAIRO=OFF", "-DHEED_NATIVE_LIBRARY=ON", "-DCMAKE_INSTALL_RPATH=" + ("@loader_path" if mac else "$ORIGIN"),
                        "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON", *options], check=True)
        subprocess.run(["cmake", "--build", str(build), "--target", *targets, "--parallel"], check=True)
        (package / "lib").mkdir(parents=True, exist_ok=True)
        interface = ".".join(version().split(".")[:2])
        files = [f"heed-{interface}.dll"] if windows else [f"lib{name}.{'dylib' if mac else 'so'}" for name in ("heed", "heed_native")]
        for file in files:
            made = (build / "native" / file).resolve()
            # By the soname, which is what one library asks for the other by.
            kept = package / "lib" / re.sub(r"(\d+\.\d+)\.\d+(?=$|\.dylib$)", r"\1", made.name)
            shutil.copyfile(made, kept)
            subprocess.run([os.environ.get("STRIP", "strip"), "-x" if mac else "--strip-unneeded", str(kept)], check=True)
        for folder in filter(None, os.environ.get("HEED_LICENCES", "").split(os.pathsep)):  # of what a library for Windows has inside
            shutil.copytree(folder, package / "licences" / pathlib.Path(folder).name)
        put_cell(package)
        shutil.copytree(ROOT / "runtime/demo/model", package / "demo", dirs_exist_ok=True)
        shutil.copyfile(ROOT / "runtime/demo/scene_159.png", package / "demo/scene.png")
        shutil.copyfile(ROOT / "LICENSE", package / "LICENSE")
        shutil.copyfile(ROOT / "runtime/package/notices.txt", package / "notices.txt")
        subprocess.run([sys.executable, str(HERE / "make_abi.py"), str(package / "_abi.py"), str(ROOT / "runtime/include"),
                        str(ROOT / "native/include")], check=True)


class Wheel(bdist_wheel):
    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


class Sources(sdist):
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        put_cell(pathlib.Path(base_dir, "cell"))
        for name in SOURCES:
            source, to = ROOT / name, pathlib.Path(base_dir, "heed", name)
            if source.is_dir():
                shutil.copytree(source, to, ignore=shutil.ignore_patterns("python", "build", "__pycache__"))
            else:
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, to)


class Binary(Distribution):
    def has_ext_modules(self) -> bool:
        return True


if __name__ == "__main__":
    setup(version=version(), distclass=Binary, cmdclass={"build_py": Build, "bdist_wheel": Wheel, "sdist": Sources})
