#pragma once

#include <stdexcept>

#include "producer/device.hpp"

namespace tailrace {

/// A GPU that refuses everything: tests derive from it and allow what they are about.
class StubDevice : public Device {
 public:
  [[nodiscard]] std::string description() const override { return "stub"; }
  [[nodiscard]] bool is_cuda() const override { return true; }
  [[nodiscard]] int index() const override { return 0; }
  std::unique_ptr<HostMemory> allocate(std::size_t) override { refuse(); }
  void copy_to_host(std::span<std::byte>, const void*) override { refuse(); }
  std::unique_ptr<Pin> pin(std::span<std::byte>) override { refuse(); }
  std::unique_ptr<Copier> make_copier(CopyStream, std::size_t) override { refuse(); }
  std::unique_ptr<Uploader> make_uploader(std::size_t, std::size_t) override { refuse(); }
  std::unique_ptr<ComputeClock> make_compute_clock() override { refuse(); }
  std::optional<LinkFigures> measure_link(std::span<std::byte>) override { refuse(); }

 private:
  [[noreturn]] static void refuse() { throw std::logic_error("not asked for here"); }
};

}  // namespace tailrace
