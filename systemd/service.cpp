#include "systemd/service.hpp"

#include <utility>

#include "systemd/log.hpp"

namespace tailrace {

Service::Service(const LoadedConfig& loaded, LiveConfig::Load load, const ProcessName& name)
    : config(loaded, std::move(load), name),
      life((set_up_logging(loaded.config.log, name), signals), watchdog_period()) {
  signals.on_reload([this] { config.reload(); });
}

Service::~Service() { signals.on_reload({}); }

}  // namespace tailrace
