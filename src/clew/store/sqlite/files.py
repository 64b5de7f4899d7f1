"""The file on disk: whose it may be, which tenant's it is, and whether the file system can be trusted with it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from urllib.parse import unquote

from clew.errors import StoreError, StoreFull, StoreMissing
from clew.store.tenants import spelled

FILE_MODE, FOLDER_MODE = 0o600, 0o700
SUFFIX = ".sqlite"
_NETWORK = {
    "nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "afpfs", "webdav", "ncpfs", "9p", "afs", "ceph", "glusterfs",
    "lustre", "beegfs", "gpfs", "fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.glusterfs", "fuse.gcsfuse", "davfs",
}  # fmt: skip


def prepare(path: Path) -> None:
    """Makes the folder and the file for the owner alone; takes others' rights from a file that has them."""
    with _translated(path):
        if not path.parent.exists():
            path.parent.mkdir(parents=True, mode=FOLDER_MODE)
            path.parent.chmod(FOLDER_MODE)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE))
        restrict(path)


def restrict(path: Path) -> None:
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        path.chmod(FILE_MODE)


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """What the system says of a path, in Clew's words."""
    try:
        yield
    except PermissionError as e:
        raise StoreFull(f"{path} may not be written", hint="check the permissions of the file and its folder") from e
    except (IsADirectoryError, NotADirectoryError, FileExistsError) as e:
        raise StoreMissing(f"{path} can't be a store: {e.strerror}", hint="name another path") from e
    except OSError as e:
        raise StoreError(f"{path} can't be made: {e.strerror}", hint="check its folder, or name another path") from e


def tenant_path(path: Path, tenant: str) -> Path:
    """Each tenant has a file of its own beside the first one."""
    return path.with_name(f"{path.stem}@{spelled(tenant)}{path.suffix or SUFFIX}") if tenant else path


def tenants_beside(path: Path) -> tuple[str, ...]:
    """The tenants that have a file; "" is the one that needs no name."""
    found = [""] if path.exists() else []
    prefix = f"{path.stem}@"
    if path.parent.is_dir():
        names = sorted(p.stem for p in path.parent.iterdir() if p.suffix == (path.suffix or SUFFIX))
        found += [unquote(n[len(prefix) :]) for n in names if n.startswith(prefix)]
    return tuple(found)


def backups_of(path: Path) -> tuple[Path, ...]:
    """What migrations set aside before they ran."""
    return _beside(path, ".v*.backup")


def set_aside_of(path: Path) -> tuple[Path, ...]:
    """Damaged files that a repair kept."""
    return _beside(path, ".corrupt-*")


def unfinished_of(path: Path) -> tuple[Path, ...]:
    """What a migration or a repair that was killed left half written: nobody's, and safe to take away."""
    return (*_beside(path, ".v*.part*"), *_beside(path, ".repair*"))


def _beside(path: Path, pattern: str) -> tuple[Path, ...]:
    return tuple(sorted(path.parent.glob(escape(path.name) + pattern))) if path.parent.is_dir() else ()


def file_system(path: Path) -> str:
    """The kind of file system a path is on, or "" where it can't be told."""
    where = os.path.realpath(path.parent)
    if sys.platform == "win32":
        return "smb" if where.startswith("\\\\") else ""
    mounts: list[tuple[str, str]] = []
    try:
        if sys.platform == "darwin":
            out = subprocess.run(["/sbin/mount"], capture_output=True, text=True, check=False, timeout=5).stdout
            mounts = [
                (m.split(" (")[0], m.split(" (")[1].split(",")[0])
                for _, _, m in (x.partition(" on ") for x in out.splitlines())
                if " (" in m
            ]
        else:
            for line in Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines():
                _, mount, kind, *_ = line.split(" ")
                mounts.append((mount.replace("\\040", " "), kind))
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    inside = [(len(m), k) for m, k in mounts if where == m or where.startswith(m.rstrip("/") + "/")]
    return max(inside)[1] if inside else ""


def on_network(path: Path) -> str:
    """The kind of network file system a path is on; "" where it is on none."""
    kind = file_system(path)
    return kind if kind in _NETWORK else ""
