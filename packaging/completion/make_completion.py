#!/usr/bin/env python3
"""Writes the completion for bash: make_completion.py BIN_FOLDER OUT_FOLDER.

One file, and a link to it for each other program. Tables of what the programs say of themselves, then completion.bash from this script's folder, which uses them.
"""
import re
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from program_help import read_programs  # noqa: E402

# Options whose --help names no kind of value that would say what to complete.
KINDS = {"--group": "GROUP", "--instance": "PIPELINE:GROUP:N"}


def kind_of(option):
    if option.choices:
        return "|".join(option.choices)
    if option.is_argument:
        return option.value if option.value == "PIPELINE:GROUP" else option.names[0]
    return KINDS.get(option.names[0], option.value)


def table(name, content):
    lines = "".join(f"  [{shlex.quote(key)}]={shlex.quote(value)}\n" for key, value in content.items() if value)
    return f"declare -gA {name}=(\n{lines})\n"


def command_tables(commands):
    below = {command.name: " ".join(other.words[-1] for other in command.commands) for command in commands}
    options = {command.name: " ".join(name for option in command.options for name in option.names if name.startswith("--"))
               for command in commands}
    arguments = {command.name: " ".join(map(kind_of, command.arguments)) for command in commands}
    values = {f"{command.name} {name}": kind_of(option)
              for command in commands for option in command.options for name in option.names if option.value}
    return (table("_tailrace_commands", below) + table("_tailrace_options", options)
            + table("_tailrace_arguments", arguments) + table("_tailrace_values", values))


def choices_of(value):
    if value == "true or false":
        return "true false"
    return " ".join(re.findall(r'"(\w+)"', value)) if " | " in value else ""


def key_table(defaults):
    """From the commented file of all defaults: "[section]", then for each key "# Value: …", "key = …"."""
    keys, section, choices = {}, "", ""
    for line in defaults.split("\n"):
        if match := re.match(r"\[+([\w.]+)\]+", line):
            section = match[1]
        elif match := re.match(r"# .*?Value: (.*)", line):
            choices = choices_of(match[1])
        elif match := re.match(r"#?(\w+(?:\.\w+)*) = ", line):
            keys[f"{section}.{match[1]}"] = choices or " "
    return table("_tailrace_keys", keys)


def main():
    folder, out = sys.argv[1], Path(sys.argv[2])
    programs = read_programs(folder)
    commands = [command for program in programs for command in program.with_all_below()]
    defaults = subprocess.run([f"{folder}/tailrace", "validate", "--defaults"], check=True, capture_output=True,
                              text=True).stdout
    (out / "tailrace").write_text("# Made from the programs' --help.\n" + command_tables(commands) + key_table(defaults)
                                  + (HERE / "completion.bash").read_text())
    for program in programs[1:]:
        (out / program.name).symlink_to("tailrace")


if __name__ == "__main__":
    main()
