#include "producer/trace.hpp"

#include <torch/csrc/autograd/profiler_kineto.h>

#include <set>

#include "producer/profile/profile_file.hpp"
#include "producer/torch/torch_errors.hpp"

namespace tailrace {
namespace {

using torch::profiler::impl::ActivityType;
using torch::profiler::impl::ProfilerConfig;
using torch::profiler::impl::ProfilerState;
namespace kineto = torch::autograd::profiler;

class KinetoRecorder final : public TraceRecorder {
 public:
  KinetoRecorder(const std::string& path, bool with_cuda)
      : file_(path, "profile.trace"), activities_{ActivityType::CPU} {
    if (with_cuda) activities_.insert(ActivityType::CUDA);
  }
  ~KinetoRecorder() override {
    try {
      if (recording_) kineto::disableProfiler();
    } catch (...) {  // the process is ending, and has no use for it
    }
  }

  void start() override {
    translated("cannot record a trace", [&] {
      const ProfilerConfig config(ProfilerState::KINETO);
      kineto::prepareProfiler(config, activities_);
      kineto::enableProfiler(config, activities_);
    });
    recording_ = true;
  }

  void stop() override {
    recording_ = false;
    const auto result = translated("cannot end a trace", [] { return kineto::disableProfiler(); });
    file_.write(
        [&](const std::string& name) { translated("cannot write a trace", [&] { result->save(name); }); });
  }

 private:
  ProfileFile file_;
  std::set<ActivityType> activities_;
  bool recording_ = false;
};

}  // namespace

std::unique_ptr<TraceRecorder> make_trace_recorder(const std::string& path, const Device& device) {
  return std::make_unique<KinetoRecorder>(path, device.is_cuda());
}

}  // namespace tailrace
