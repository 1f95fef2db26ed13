"""Which packages there are; all else is in pyproject.toml.

scenes/ and kernels/ are packaged under names of their own, as `kernels` is also a package by Hugging Face.
"""

from setuptools import find_packages, setup

FOLDERS = {"tilesim": "tilesim", "tilesim_scenes": "scenes", "tilesim_kernels": "kernels"}

setup(
    package_dir=FOLDERS,
    packages=[
        *FOLDERS,
        *(f"{package}.{name}" for package, folder in FOLDERS.items() for name in find_packages(folder)),
    ],
)
