#pragma once

#include <cstdint>
#include <string>

namespace tailrace {

// The pipelines that are measured where the user brings none: configuration files as text. Names, folders and
// the window come as overrides.

/// One item that is copied by the producer itself: enough to be told which device it takes.
std::string probe_pipeline();

/// Large outputs, for the ladder: on a GPU, DeepLabV3-ResNet50 on 64 random images of 512×512, 1.4 GB of
/// logits a batch; on the CPU a synthetic model with 22 MB a batch, which shows that every strategy works:
/// there is no device whose time could be saved.
std::string ladder_pipeline(bool on_gpu);

/// What is sent over the link.
struct LinkLoad {
  std::uint64_t batch_bytes = 0;  // rounded up to whole elements of each item
  std::uint32_t slots = 0;
  std::uint32_t consumers = 0;
};

/// The load for the machine at hand.
LinkLoad default_link_load(bool on_gpu);

/// Batches that are almost free to compute, and consumers that read every byte.
std::string link_pipeline(const LinkLoad& load);

/// Batches of 4 KiB through a ring of one slot: nothing but latency.
std::string handoff_pipeline();

}  // namespace tailrace
