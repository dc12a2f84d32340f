"""Names of built-in corpora that a file or folder has, too: the built-in corpus is read, and that is said."""

from seqlab.data.files import existing_path


def shadow_notes(name: str) -> list[str]:
    """How to read the file or folder with the name of a built-in corpus, if there is one."""
    if existing_path(name) is None:
        return []
    return [f"'{name}' is the built-in corpus, not the file or folder of that name, which ./{name} reads"]
