#!/usr/bin/env python3
"""Writes the manual from what the programs say of themselves: make_pages.py BIN_FOLDER OUT_FOLDER CHANGELOG.

CHANGELOG, in Debian's form, says which release of which day this is.

One page for each program and command, from its --help, with PAGE.roff from this script's folder (what --help cannot
say) if there is one; and tailrace.toml(5), from `tailrace validate --defaults`.
"""
import gzip
import re
import subprocess
import sys
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from program_help import read_programs  # noqa: E402

SECTIONS = {"tailrace-producer": 8, "tailrace-consumer": 8}  # started by the service manager; all others: 1
KEYS_PAGE = "tailrace.toml"


class Release(NamedTuple):
    version: str
    date: str


def read_release(changelog):
    """Of the topmost entry: "tailrace (VERSION) …" to " -- NAME <MAIL>  DATE"."""
    version = re.match(r"\S+ \((\S+)\)", changelog)[1]
    date = re.search(r"^ -- .*>  (.*)$", changelog, re.MULTILINE)[1]
    return Release(version, parsedate_to_datetime(date).date().isoformat())


def plain(text):
    """`text` with nothing in it that roff would take for its own."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("…", "...")
    return "\n".join("\\&" + line if line.startswith((".", "\\(aq")) else line for line in text.split("\n"))


def bold(text):
    return f"\\fB{plain(text)}\\fR"


def italic(text):
    return f"\\fI{plain(text)}\\fR"


def sentence(text):
    return text if text.endswith((".", "?")) else text + "."


def wrapped(text):
    """One sentence or clause a line, as roff likes it."""
    return plain(re.sub(r"(?<=[.;:]) (?=\S)", "\n", text))


def page_of(command):
    return "-".join(command.words)


def section_of(page):
    return 5 if page == KEYS_PAGE else SECTIONS.get(page, 1)


def reference(page):
    return f".BR {plain(page)} ({section_of(page)})"


def title(page, summary, release):
    name = plain(page)
    return (f'.TH "{name.upper()}" "{section_of(page)}" "{release.date}" "tailrace {release.version}" "Tailrace"\n'
            f".SH NAME\n{name} \\- {plain(summary.rstrip('.'))}\n")


def synopsis(command):
    words = command.usage.split()
    shown = [bold(" ".join(command.words))]
    for word in words[len(command.words):]:
        shown.append(re.sub(r"[A-Z]\S*?(?=\]|$)", lambda name: italic(name[0]), plain(word)))
    return ".SH SYNOPSIS\n" + " ".join(shown) + "\n"


def details(option):
    facts = []
    if option.choices:
        facts.append("one of " + ", ".join(option.choices))
    if option.span:
        facts.append(f"{option.span[0]} to {option.span[1]}")
    if option.default:
        facts.append("default " + option.default)
    return f" ({'; '.join(facts)})" if facts else ""


def entry(option):
    style = italic if option.is_argument else bold
    value = "" if option.is_argument or not option.value else " " + italic(option.value)
    return ".TP\n" + ", ".join(map(style, option.names)) + value + "\n" + wrapped(sentence(option.meaning + details(option))) + "\n"


def options(command):
    text = ""
    if command.arguments:
        text += ".SH ARGUMENTS\n" + "".join(map(entry, command.arguments))
    return text + ".SH OPTIONS\n" + "".join(map(entry, command.options))


def commands(command):
    if not command.commands:
        return ""
    return ".SH COMMANDS\n" + "".join(
        f".TP\n{reference(page_of(below))}\n{wrapped(sentence(below.summary))}\n" for below in command.commands)


def extra(page):
    """More of the description, and further sections."""
    file = HERE / f"{page}.roff"
    text = file.read_text() if file.exists() else ""
    first = text.find(".SH ")
    return (text, "") if first < 0 else (text[:first], text[first:])


def exit_status():
    return (HERE / "exit_status.roff").read_text()


def see_also(page, pages):
    others = [other for other in pages if other != page and (other.startswith(page) or page.startswith(other))]
    others += [other for other in ("tailrace", "tailrace-producer", "tailrace-consumer", KEYS_PAGE) if other not in others + [page]]
    return ".SH SEE ALSO\n" + " ,\n".join(reference(other) for other in sorted(others)) + "\n"


def command_page(command, pages, release):
    page = page_of(command)
    summary = command.summary.split(". ")[0]
    description, sections = extra(page)
    return (title(page, summary[0].lower() + summary[1:], release) + synopsis(command)
            + ".SH DESCRIPTION\n" + wrapped(sentence(command.summary)) + "\n" + description
            + commands(command) + options(command) + sections + exit_status() + see_also(page, pages))


def keys_page(defaults, pages, release):
    """From the commented file of all defaults: "[section]", then for each key "# meaning", "# Value: …", "key = …"."""
    text = title(KEYS_PAGE, "configuration of a Tailrace pipeline", release) + extra(KEYS_PAGE)[1]
    comments = []
    for line in defaults.split("\n\n", 1)[1].split("\n"):
        if line.startswith("# "):
            comments.append(line[2:])
        elif line.startswith("["):
            text += f".SH {plain(line)}\n"
        elif match := re.match(r"#?(\w+(?:\.\w+)*) = (.*)", line):
            text += f".TP\n{bold(match[1])} = {plain(match[2])}\n" + "".join(
                wrapped(comment if comment.endswith(".") else comment + ".") + "\n" for comment in comments)
            comments = []
    return text + see_also(KEYS_PAGE, pages)


def main():
    bin_folder, out = sys.argv[1], Path(sys.argv[2])
    release = read_release(Path(sys.argv[3]).read_text())
    all_commands = [command for program in read_programs(bin_folder) for command in program.with_all_below()]
    pages = [page_of(command) for command in all_commands] + [KEYS_PAGE]
    defaults = subprocess.run([f"{bin_folder}/tailrace", "validate", "--defaults"], check=True, capture_output=True,
                              text=True).stdout
    texts = {page_of(command): command_page(command, pages, release) for command in all_commands}
    texts[KEYS_PAGE] = keys_page(defaults, pages, release)
    for page, text in texts.items():
        file = out / f"man{section_of(page)}" / f"{page}.{section_of(page)}.gz"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
