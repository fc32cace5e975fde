#include "ctl/exporter/exporter_action.hpp"

#include <chrono>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "config/exit_codes.hpp"
#include "ctl/exporter/exporter.hpp"
#include "os/clock.hpp"
#include "systemd/notify.hpp"
#include "systemd/stop_signals.hpp"

namespace tailrace {
namespace {

constexpr std::uint64_t kWatchEveryNs = 1'000'000'000;
constexpr std::chrono::milliseconds kStopCheck{200};

/// Also what the service manager hears: it reads what a scrape reads, and who hangs here would hang there.
void watch(Exporter& exporter) {
  try {
    exporter.watch();
    notify_watchdog();
  } catch (const std::system_error&) {
    // Who asks is told why; the service manager is not told that all is well.
  }
}

int serve(const std::string& listen) {
  const ListenAddress wanted = parse_listen_address(listen);
  StopSignals signals;
  Exporter exporter(TAILRACE_VERSION);
  const HttpServer server(wanted,
                          [&exporter](const HttpRequest& request) { return exporter.answer(request); });
  const std::string where = "http://" + server.address().text() + "/metrics";
  std::cerr << "tailrace: serving " << where << '\n';
  notify_ready("serving " + where);
  std::uint64_t watch_ns = 0;
  while (!signals.stop_requested()) {
    if (monotonic_ns() >= watch_ns) {
      watch(exporter);
      watch_ns = monotonic_ns() + kWatchEveryNs;
    }
    std::this_thread::sleep_for(kStopCheck);
  }
  notify_stopping("stopping");
  return kExitDone;
}

// For CLI11: what is wrong with the argument; empty: nothing.
std::string fault_of(const std::string& text) {
  try {
    static_cast<void>(parse_listen_address(text));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

}  // namespace

void add_exporter(CLI::App& app, Action& action) {
  CLI::App& command =
      add_command(app, "exporter", "Serve metrics and health of the rings on this machine over HTTP");
  const auto listen = std::make_shared<std::string>(ListenAddress().text());
  command.add_option("--listen", *listen, "Where to listen; by default only this machine can ask")
      ->type_name("ADDRESS:PORT")
      ->capture_default_str()
      ->check(CLI::Validator(fault_of, "", "address"));
  command.callback([listen, &action] { action = [listen] { return serve(*listen); }; });
}

}  // namespace tailrace
