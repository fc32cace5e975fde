#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shm/ring.hpp"
#include "tests/fuzz/byte_reader.hpp"
#include "tests/sources/temp_folder.hpp"

namespace tailrace::fuzzing {

/// The parts of a ring's files that a scribble may be aimed at: offsets follow the layout, so that inputs
/// keep their meaning when it changes.
enum class Part : std::uint8_t {
  kHeader,
  kParticipants,
  kGroups,
  kProducer,
  kProducerWords,
  kGroupWords,
  kLeaseStamps,
  kDataHeader,
  kSlots,          // `offset` counts from the beginning of slot `slot`
  kControlLength,  // `value` more or, as a signed number, fewer bytes; before the attach only
  kDataLength,
  kCount
};

/// One write into a ring's files, as an input holds it.
struct Scribble {
  Part part = Part::kHeader;
  std::uint8_t bytes = 8;  // of `value`, 1 to 8
  std::uint16_t offset = 0;
  std::uint8_t slot = 0;
  std::uint64_t value = 0;
  bool late = false;  // made while somebody is attached
};

Scribble take_scribble(ByteReader& reader);
void append_scribble(std::string& input, const Scribble& scribble);

/// What a ring looks like before anybody scribbles.
struct RingShape {
  std::uint32_t slot_count = 3;
  std::size_t group_count = 2;
  bool retired = false;
};

/// A ring of the shape with published, leased and finished batches and no living process, whose files are
/// made anew for each input. One at a time.
class FuzzedRing {
 public:
  /// Ready to be attached.
  FuzzedRing(const RingShape& shape, std::span<const Scribble> early);
  FuzzedRing(const FuzzedRing&) = delete;
  FuzzedRing& operator=(const FuzzedRing&) = delete;
  ~FuzzedRing();

  [[nodiscard]] const RingFiles& files() const { return files_; }
  [[nodiscard]] const RingSpec& spec() const { return spec_; }
  /// Writes to the files, whoever has them mapped; also after their names are gone.
  void scribble(std::span<const Scribble> scribbles) const;

 private:
  void apply(const Scribble& scribble) const;

  RingFiles files_;
  RingSpec spec_;
  ControlOffsets offsets_;
  UniqueFd control_;
  UniqueFd data_;
};

}  // namespace tailrace::fuzzing
