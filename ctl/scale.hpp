#pragma once

#include "ctl/command.hpp"

namespace tailrace {

/// `tailrace scale PIPELINE:GROUP N`: how many consumer services the group has, now and after a reboot.
/// Starts those that are missing, stops the newest (each finishes its batch). Exit codes: kExitDone,
/// kExitUnexpected (systemctl failed), kExitPermission (not root), kExitConfig (no such pipeline or group).
void add_scale(CLI::App& app, Action& action);

}  // namespace tailrace
