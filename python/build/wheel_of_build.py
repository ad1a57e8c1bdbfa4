# SPDX-License-Identifier: Apache-2.0
"""The back end of `pip install .` (PEP 517): builds the library with CMake and packs it with the Python sources.

LUISA_TILE_LIBRARY names a library that is built already; otherwise LUISA_TILE_BUILD names a build folder to bring up to
date, by default build/release where that is configured and else build/python.
"""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = "luisa_tile"


def _version():
    return re.search(r"project\(LuisaTile VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]


def _metadata():
    return (f"Metadata-Version: 2.1\nName: luisa-tile\nVersion: {_version()}\n"
            "Summary: Luisa Tile kernels on the tensors of PyTorch, NumPy and others\n"
            "License: Apache-2.0\nRequires-Python: >=3.9\n")


def _tag():
    return "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


def _run(*command):
    subprocess.run([str(c) for c in command], check=True)


def _built_library():
    named = os.environ.get("LUISA_TILE_LIBRARY")
    if named:
        return pathlib.Path(named)
    release = ROOT / "build" / "release"
    folder = pathlib.Path(os.environ.get("LUISA_TILE_BUILD") or
                          (release if (release / "CMakeCache.txt").exists() else ROOT / "build" / "python"))
    if not (folder / "CMakeCache.txt").exists():
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        _run("cmake", "-S", ROOT, "-B", folder, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DLUISA_TILE_TESTS=OFF",
             "-DLUISA_TILE_PROGRAMS=OFF")
    _run("cmake", "--build", folder, "--target", "luisa_tile", "--parallel")
    return folder / "lib" / "libluisa_tile.so"


def _record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def _write(path, files):
    """A wheel of names and contents, with the list of them that wheels have."""
    record = f"{NAME}-{_version()}.dist-info/RECORD"
    lines = "".join(_record_line(name, data) for name, data in files.items()) + f"{record},,\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in {**files, record: lines.encode()}.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (0o755 if ".so" in name else 0o644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(info, data)


def _info_files():
    about = f"{NAME}-{_version()}.dist-info"
    return {f"{about}/METADATA": _metadata().encode(),
            f"{about}/WHEEL": f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: false\n"
                              f"Tag: {_tag()}\n".encode(),
            f"{about}/LICENSE": (ROOT / "LICENSE").read_bytes()}


def _stripped(library):
    """The library without what only debuggers read."""
    if not shutil.which("strip"):
        return library.read_bytes()
    with tempfile.TemporaryDirectory() as work:
        copy = pathlib.Path(work) / "library"
        shutil.copyfile(library, copy)
        _run("strip", "--strip-unneeded", copy)
        return copy.read_bytes()


def _wheel_name():
    return f"{NAME}-{_version()}-{_tag()}.whl"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = ROOT / "python" / NAME
    files = {f"{NAME}/{p.name}": p.read_bytes() for p in sorted(package.glob("*.py"))}
    files[f"{NAME}/py.typed"] = b""
    files[f"{NAME}/lib/libluisa_tile.so"] = _stripped(_built_library())
    _write(pathlib.Path(wheel_directory) / _wheel_name(), {**files, **_info_files()})
    return _wheel_name()


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """`pip install -e .`: the sources as they stand, over the library of the build folder."""
    library = _built_library().resolve()
    files = {f"_{NAME}_editable.pth": (
        f"import os; os.environ.setdefault('LUISA_TILE_LIBRARY', {str(library)!r})\n"
        f"{ROOT / 'python'}\n").encode()}
    _write(pathlib.Path(wheel_directory) / _wheel_name(), {**files, **_info_files()})
    return _wheel_name()


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError("there is no source archive of the Python package; `pip install .` needs a checkout")


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_wheel
