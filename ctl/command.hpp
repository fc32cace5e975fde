#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace tailrace {

/// What the chosen subcommand does once the command line is parsed; returns the exit code. Data goes to
/// stdout, messages to stderr; exceptions become one message and an exit code in main.
using Action = std::function<int()>;

/// Adds a subcommand with what all of them have (--help, --version). Each subcommand is a pair of files with
/// one function `void add_NAME(CLI::App& app, Action& action)` that calls this, adds its options, and has the
/// callback put its work into `action`.
CLI::App& add_command(CLI::App& app, const std::string& name, const std::string& description);

}  // namespace tailrace
