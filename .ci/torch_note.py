"""Say in one line which build of torch pip is about to install. Reads pip's dry-run report from stdin."""

import json
import sys

report = json.load(sys.stdin)
for package in report["install"]:
    name = f"torch {package['metadata']['version']}"
    requires = package["metadata"].get("requires_dist", [])
    if sys.platform == "linux" and any(line.startswith("nvidia-") for line in requires):
        print(
            f"pip finds no CPU wheel, so {name} is the CUDA build: it and NVIDIA's libraries, several GB, "
            "are downloaded now (a CPU wheel in the folder PIP_FIND_LINKS would be used instead)."
        )
    else:
        source = (
            "from this machine" if package["download_info"]["url"].startswith("file:") else "downloaded now"
        )
        print(f"{name} is a CPU build without CUDA, {source}.")
