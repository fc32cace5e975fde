"""What a program says of itself: its --help, read into commands, options and arguments.

The manual and the completion are made from it, so that neither has a list of its own.
"""
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

COLUMN = 30  # where meanings begin; a longer left side has its meaning on the next line
# "UINT:INT in [1 - 1000]=30 ...": type, constraint, default, "may be repeated"
VALUE = re.compile(r"^(?P<type>TEXT|UINT|INT|FLOAT)(?::(?P<limit>\{.*?\}|\w+ in \[.*?\]|\w+))?(?:=(?P<default>.*?))?$")
RANGE = re.compile(r"^\w+ in \[(\S+) - (\S+)\]$")


@dataclass
class Option:
    """An option ("-h", "--help") or an argument ("FILE")."""
    names: list
    meaning: str = ""
    value: str = ""  # what it takes: "FILE", "KEY=VALUE", "TEXT"; empty = nothing
    choices: list = field(default_factory=list)
    default: str = ""
    span: tuple = ()  # smallest and largest number
    required: bool = False

    @property
    def is_argument(self):
        return not self.names[0].startswith("-")


@dataclass
class Command:
    words: list  # ["tailrace", "quarantine", "list"]
    summary: str = ""
    usage: str = ""
    options: list = field(default_factory=list)
    arguments: list = field(default_factory=list)
    commands: list = field(default_factory=list)  # those below it
    footer: str = ""

    @property
    def name(self):
        return " ".join(self.words)

    def with_all_below(self):
        yield self
        for command in self.commands:
            yield from command.with_all_below()


def parse_option(left, meaning):
    names, _, rest = left.partition(" ")
    option = Option(names.split(","), meaning)
    rest = re.split(r" ?\b(?:Needs|Excludes):", rest)[0]
    if rest.endswith("REQUIRED"):
        option.required = True
        rest = rest.removesuffix("REQUIRED").rstrip()
    rest = rest.removesuffix("...").rstrip()
    rest = re.sub(r"(?<! in) \[(.*)\]$", r"=\1", rest)  # how CLI11 2.4 writes a default
    if match := VALUE.match(rest):
        option.value, option.default = match["type"], match["default"] or ""
        limit = match["limit"] or ""
        if limit.startswith("{"):
            option.choices = limit[1:-1].split(",")
        elif span := RANGE.match(limit):
            option.span = span.groups()
        elif limit:
            option.value = limit
    else:
        option.value = rest
    return option


def entries(lines):
    """(left column, meaning) of each entry of a section."""
    found = []
    for line in lines:
        if line.startswith(" " * COLUMN):
            found[-1][1] = (found[-1][1] + " " + line.strip()).strip()
        elif line[COLUMN - 1:COLUMN] == " ":
            found.append([line[:COLUMN].strip(), line[COLUMN:].strip()])
        elif line.strip():
            found.append([line.strip(), ""])
    return found


def parse_help(words, text):
    command = Command(words)
    head, _, rest = text.partition("Usage: ")
    command.summary = " ".join(head.split())
    command.usage, _, rest = rest.partition("\n")
    below = []
    for block in re.split(r"\n(?=\S)", "\n" + rest):
        title, _, body = block.strip("\n").partition("\n")
        if title == "Options:":
            command.options = [parse_option(*entry) for entry in entries(body.split("\n"))]
        elif title == "Positionals:":
            command.arguments = [parse_option(*entry) for entry in entries(body.split("\n"))]
        elif title == "Subcommands:":
            below = [left for left, _ in entries(body.split("\n"))]
        elif title:
            command.footer += block + "\n"
    return command, below


def read_command(program, words):
    text = subprocess.run([program, *words[1:], "--help"], check=True, capture_output=True, text=True).stdout
    command, below = parse_help(words, text)
    command.commands = [read_command(program, words + [name]) for name in below]
    return command


def read_programs(folder):
    """Those programs that a build has."""
    programs = ("tailrace", "tailrace-producer", "tailrace-consumer")
    return [read_command(f"{folder}/{name}", [name]) for name in programs if Path(folder, name).exists()]
