"""What a tenant may be called, and how the name is spelled where names are files."""

from __future__ import annotations

from urllib.parse import quote

from clew.errors import InputError

_LONGEST = 180  # characters once it is spelled: what is left for a file's own name is enough everywhere


def spelled(tenant: str) -> str:
    """The name with all but small letters, digits and a few signs as `%XX`: no two tenants share a spelling where a file
    system takes capitals for small letters or composes accents, and none leads out of a folder. InputError where a name
    can't be spelled.
    """
    try:
        name = "".join(f"%{ord(c):02X}" if "A" <= c <= "Z" else quote(c, safe="") for c in tenant)
    except UnicodeEncodeError as e:
        raise InputError(f"{tenant!r} can't be a tenant's name", hint="use what has a UTF-8 form") from e
    if len(name) > _LONGEST:
        raise InputError(f"a tenant's name of {len(tenant)} characters is too long", hint=f"{_LONGEST} at most")
    return name
