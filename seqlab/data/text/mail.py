"""Mail as running text: its header fields come first, whatever its bodies are encoded in."""

import os
import re
import shlex
from collections.abc import Collection, Sequence
from pathlib import Path

from seqlab.data.new_files import new_file

FIELD = re.compile(r"(?:From |[A-Za-z][A-Za-z0-9-]*:(?: |$))")
ENVELOPE = re.compile(r"From \S+ .*\d:\d\d.* \d{4}\b")  # above each mail of a mailbox
CONTINUED = re.compile(r"[ \t]")  # lines of a field, below its first
TELLING = re.compile(  # fields that most mail has
    r"(message-id|mime-version|received|return-path|delivered-to|date|from|to|subject|content-type)(?=:)", re.IGNORECASE
)
MIN_TELLING = 3  # different ones, and one of those that a memo does not have
ONLY_MAIL = {"message-id", "mime-version", "received", "return-path", "delivered-to", "content-type"}
ENCODED = re.compile(r"content-transfer-encoding: *(base64|quoted-printable)\b", re.IGNORECASE)
# each mail of a mailbox, or the only one of a file; a text without plain parts keeps what its pages show
PLAIN_MAIL = (
    "import email, html, mailbox, re, sys; raw = lambda f: open(f, 'rb').read(); "
    "mails = lambda f: mailbox.mbox(f) if raw(f).startswith(b'From ') else [email.message_from_bytes(raw(f))]; "
    "kinds = lambda mail, kind: [p for p in mail.walk() if p.get_content_type() == kind and not p.get_filename()]; "
    "text = lambda p: p.get_payload(decode=True).decode(p.get_content_charset() or 'utf-8', 'replace'); "
    "shown = lambda p: text(p) if p.get_content_type() == 'text/plain' else "
    "html.unescape(re.sub('(?is)<(script|style|head).*?</(script|style|head)>|<[^>]*>', '', text(p))); "
    "[print(shown(p)) for f in sys.argv[1:] for mail in mails(f) "
    "for p in kinds(mail, 'text/plain') or kinds(mail, 'text/html')]"
)


def mail_bodies(lines: Sequence[str]) -> str | None:
    """What a text of mail has besides its words; None if its first lines, without empty ones, are no header."""
    if not FIELD.match(lines[0]):
        return None
    if encoded := next((match for line in lines if (match := ENCODED.match(line))), None):
        return f"bodies in {encoded[1].lower()}"
    found: set[str] = set()
    for line in lines:
        if not FIELD.match(line) and not CONTINUED.match(line):
            break
        found |= {field.lower() for field in TELLING.findall(line[:20])}
    is_mail = len(found) >= MIN_TELLING and found & ONLY_MAIL
    return "header fields" if is_mail or (found and ENVELOPE.match(lines[0])) else None


def one_mail_command(name: str) -> str:
    """The command that gets the text of a file, whose name is quoted for a shell."""
    return f'python3 -c "{PLAIN_MAIL}" {name} > {new_file(".txt")}'


def folder_command(paths: Collection[Path]) -> str | None:
    """The command that gets the text of all these files, in the order of their names; None where no search for files
    finds these alone, as of absolute and relative names, or where some are packed."""
    suffixes = {path.suffix for path in paths}
    if ".gz" in suffixes or len({path.is_absolute() for path in paths}) > 1:
        return None
    folder = Path(os.path.commonpath([path.parent for path in paths]))
    ending = suffixes.pop() if len(suffixes) == 1 else ""
    if not _are_alone(folder, ending, {*paths}):
        return None
    named = f" -name {shlex.quote('*' + ending)}" if ending else ""
    found = f"find {shlex.quote(str(folder))} -type f{named} ! -name '.*' -print0 | LC_ALL=C sort -z"
    return f'{found} | xargs -0 python3 -c "{PLAIN_MAIL}" > {new_file(".txt")}'


def _are_alone(folder: Path, ending: str, paths: set[Path]) -> bool:
    """Whether the files below a folder whose names end so are these. A folder without any of them is not looked into:
    it may be large."""
    above = {parent for path in paths for parent in path.parents}
    found: set[Path] = set()
    for place, folders, files in os.walk(folder):
        if any(Path(place, name) not in above and not Path(place, name).is_symlink() for name in folders):
            return False
        named = (Path(place, name) for name in files if name.endswith(ending) and not name.startswith("."))
        found |= {path for path in named if path.is_file() and not path.is_symlink()}
    return found == paths
