"""Unpacks members of a wheel: python3 unpack_wheel.py <wheel> <folder> <members as JSON>.

The members are parts of paths in the wheel, each with what replaces all up to its end.
"""
import json
import os
import shutil
import sys
import zipfile


def is_program(entry):
    """Returns whether a member should be executable: zipfile drops that bit, and not every wheel
    records it.
    """
    folders = entry.filename.split("/")[:-1]
    return bool(entry.external_attr >> 16 & 0o111) or "bin" in folders or "scripts" in folders


def unpack(wheel, folder, members):
    archive = zipfile.ZipFile(wheel)
    for entry in archive.infolist():
        part = next((part for part in members if part in entry.filename), None)
        if part is None or entry.is_dir():
            continue
        rest = entry.filename.split(part, 1)[1]
        name = members[part] + rest or os.path.basename(entry.filename)
        path = os.path.join(folder, name)
        assert os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with archive.open(entry) as source, open(path, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        os.chmod(path, 0o755 if is_program(entry) else 0o644)


if __name__ == "__main__":
    unpack(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
