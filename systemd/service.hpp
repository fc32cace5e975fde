#pragma once

#include "systemd/lifesign.hpp"
#include "systemd/live_config.hpp"
#include "systemd/notify.hpp"
#include "systemd/stop_signals.hpp"

namespace tailrace {

/// What a process needs to be a service: made in main, before any other thread. Member order is teardown
/// order. Sets up the log, and reads the configuration again on SIGHUP.
struct Service {
  Service(const LoadedConfig& loaded, LiveConfig::Load load, const ProcessName& name);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service();

  LiveConfig config;
  StopSignals signals;
  Lifesign life;
};

}  // namespace tailrace
