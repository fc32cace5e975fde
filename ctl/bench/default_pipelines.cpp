#include "ctl/bench/default_pipelines.hpp"

namespace tailrace {
namespace {

constexpr std::uint64_t kLinkRows = 64;

std::string checksum_group(std::uint32_t processes) {
  return "[[group]]\nname = \"main\"\nprocesses = " + std::to_string(processes) +
         "\nsink = { kind = \"checksum\" }\n";
}

}  // namespace

std::string probe_pipeline() {
  return "[source]\nkind = \"synthetic\"\nitems = 1\nbatch_size = 1\nshape = [1]\nworkers = 1\n"
         "[model]\nkind = \"synthetic\"\nshape = [1]\n"
         "[egress]\nstrategy = \"inline\"\n";
}

std::string ladder_pipeline(bool on_gpu) {
  if (on_gpu)
    return "[ring]\nslots = 8\n"
           "[source]\nkind = \"synthetic\"\nbatch_size = 64\nshape = [3, 512, 512]\nworkers = 8\n"
           "[model]\nkind = \"deeplabv3_resnet50\"\nprecision = \"tf32\"\n" +
           checksum_group(8);
  return "[ring]\nslots = 4\n"
         "[source]\nkind = \"synthetic\"\nbatch_size = 16\nshape = [3, 64, 64]\nworkers = 1\n"
         "[model]\nkind = \"synthetic\"\nshape = [21, 128, 128]\n" +
         checksum_group(2);
}

LinkLoad default_link_load(bool on_gpu) {
  return on_gpu ? LinkLoad{kLinkRows * 21 * 512 * 512 * 4, 16, 12} : LinkLoad{64ull << 20, 4, 1};
}

std::string link_pipeline(const LinkLoad& load) {
  // complex128, the widest type: the model computes each element, whatever its size.
  constexpr std::uint64_t kRowUnit = kLinkRows * 16;
  const std::uint64_t elements = load.batch_bytes / kRowUnit + (load.batch_bytes % kRowUnit == 0 ? 0 : 1);
  return "[ring]\nslots = " + std::to_string(load.slots) +
         "\n[source]\nkind = \"synthetic\"\nbatch_size = " + std::to_string(kLinkRows) +
         "\nshape = [1]\nworkers = 1\nfixed = true\n[model]\nkind = \"synthetic\"\nshape = [" +
         std::to_string(elements) + "]\ndtype = \"complex128\"\n" + checksum_group(load.consumers);
}

std::string handoff_pipeline() {
  return "[ring]\nslots = 1\n"
         "[source]\nkind = \"synthetic\"\nbatch_size = 1\nshape = [1]\nworkers = 1\nfixed = true\n"
         "[model]\nkind = \"synthetic\"\nshape = [1024]\n"
         "[[group]]\nname = \"main\"\n";
}

}  // namespace tailrace
