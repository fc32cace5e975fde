#include "tests/fuzz/fuzzed_ring.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <tuple>

#include "shm/free_queue.hpp"
#include "shm/ready_queue.hpp"
#include "shm/ring_owner.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/shm/support.hpp"

namespace tailrace::fuzzing {
namespace {

constexpr std::uint64_t kMaxGrowthBytes = 1 << 24;
constexpr std::size_t kSlotBytesKept = 4096 + 64 * 8;  // descriptor and tensor of testing::publish_batch
constexpr std::uint64_t kSlotStride = kSlotAlignment;  // of testing::small_spec

const std::filesystem::path& folder() {
  static const TempFolder temp;
  return temp.path();
}

RingFiles files_here() { return {"test", folder(), folder()}; }

RingSpec spec_of(const RingShape& shape) {
  RingSpec spec = testing::small_spec(shape.slot_count);
  spec.groups.resize(shape.group_count, {"more", 3});
  return spec;
}

std::string read_part(const std::filesystem::path& path, std::uint64_t offset, std::size_t bytes) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string content(bytes, '\0');
  const ssize_t got = pread(fd.get(), content.data(), bytes, static_cast<off_t>(offset));
  require(got >= 0, "a ring's file can be read");
  content.resize(static_cast<std::size_t>(got));
  return content;
}

void write_part(int fd, std::uint64_t offset, std::string_view content) {
  const ssize_t written = pwrite(fd, content.data(), content.size(), static_cast<off_t>(offset));
  require(written == static_cast<ssize_t>(content.size()), "a ring's file can be written");
}

std::uint64_t slot_offset(std::uint64_t slot) { return kSlotAlignment + slot * kSlotStride; }

/// The bytes of a ring that its processes left behind.
struct Template {
  std::string control;
  std::string data_header;
  std::vector<std::string> slots;
};

void leave_work(const Ring& ring, const Participant& producer) {
  Janitor janitor(ring, producer.id(), {});
  FreeQueue free(ring, janitor, std::chrono::nanoseconds(0), BatchSeq{1});
  std::uint64_t batches = 0;
  while (batches + 1 < ring.geometry().slot_count && testing::publish_batch(free, batches)) ++batches;
  (void)free.try_claim();  // a slot that stays half-filled
  for (std::uint32_t g = 0; g < ring.geometry().groups.size(); ++g) {
    const auto consumer = Participant::join(ring, GroupId{g});
    ReadyQueue ready(ring, GroupId{g}, *consumer, janitor, std::chrono::nanoseconds(0));
    Lease first;
    if (ready.try_lease(first) == LeaseOutcome::kLeased) (void)first.commit();
    Lease second;
    if (ready.try_lease(second) != LeaseOutcome::kLeased) continue;
    // As after a SIGKILL: the word still says leased.
    const std::uint64_t bits = encode(ring.protocol().group_word(second.slot(), GroupId{g}));
    (void)second.give_back();
    const std::size_t index = g * ring.geometry().slot_count + index_of(second.slot());
    const ControlOffsets offsets = control_offsets(ring.geometry().slot_count, ring.geometry().groups.size());
    auto* words = reinterpret_cast<SlotProtocol::Word*>(reinterpret_cast<std::byte*>(&ring.header()) +
                                                        offsets.group_words);
    words[index].store(bits);
  }
}

Template make_template(const RingShape& shape) {
  const RingFiles files = files_here();
  Template made;
  {
    const RingOwner owner = testing::own(files, spec_of(shape));
    leave_work(owner.ring(), owner.participant());
    if (shape.retired) owner.ring().header().ring_state.store(RingState::kRetired);
    owner.participant().record().pid.store(0);
    made.control = read_part(files.control, 0, owner.ring().geometry().slot_count * 4096 + (1 << 20));
    made.data_header = read_part(files.data, 0, sizeof(DataHeader));
    for (std::uint64_t s = 0; s < shape.slot_count; ++s)
      made.slots.push_back(read_part(files.data, slot_offset(s), kSlotBytesKept));
    owner.remove_files();
  }
  return made;
}

const Template& template_of(const RingShape& shape) {
  static std::map<std::tuple<std::uint32_t, std::size_t, bool>, Template> made;
  const std::tuple key(shape.slot_count, shape.group_count, shape.retired);
  auto found = made.find(key);
  if (found == made.end()) found = made.emplace(key, make_template(shape)).first;
  return found->second;
}

UniqueFd new_file(const std::filesystem::path& path) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  require(static_cast<bool>(fd), "a ring's file can be made");
  return fd;
}

void change_length(int fd, std::uint64_t change) {
  struct stat status {};
  require(fstat(fd, &status) == 0, "fstat");
  const auto difference = static_cast<std::int64_t>(change) % static_cast<std::int64_t>(kMaxGrowthBytes);
  require(ftruncate(fd, std::max<off_t>(status.st_size + difference, 0)) == 0, "ftruncate");
}

}  // namespace

Scribble take_scribble(ByteReader& reader) {
  const auto kind = reader.take<std::uint8_t>();
  Scribble scribble;
  scribble.late = (kind & 0x80) != 0;
  scribble.part = static_cast<Part>((kind & 0x7f) % static_cast<std::uint8_t>(Part::kCount));
  scribble.bytes = static_cast<std::uint8_t>(reader.take<std::uint8_t>() % sizeof scribble.value + 1);
  scribble.slot = reader.take<std::uint8_t>();
  scribble.offset = reader.take<std::uint16_t>();
  scribble.value = reader.take<std::uint64_t>();
  return scribble;
}

void append_scribble(std::string& input, const Scribble& scribble) {
  append(input,
         static_cast<std::uint8_t>(static_cast<std::uint8_t>(scribble.part) | (scribble.late ? 0x80 : 0)));
  append(input, static_cast<std::uint8_t>(scribble.bytes - 1));
  append(input, scribble.slot);
  append(input, scribble.offset);
  append(input, scribble.value);
}

FuzzedRing::FuzzedRing(const RingShape& shape, std::span<const Scribble> early)
    : files_(files_here()),
      spec_(spec_of(shape)),
      offsets_(control_offsets(shape.slot_count, shape.group_count)) {
  const Template& made = template_of(shape);
  control_ = new_file(files_.control);
  data_ = new_file(files_.data);
  write_part(control_.get(), 0, made.control);
  write_part(data_.get(), 0, made.data_header);
  for (std::uint64_t s = 0; s < made.slots.size(); ++s)
    write_part(data_.get(), slot_offset(s), made.slots[s]);
  require(ftruncate(data_.get(), static_cast<off_t>(data_file_bytes(shape.slot_count, kSlotStride))) == 0,
          "ftruncate");
  scribble(early);
}

FuzzedRing::~FuzzedRing() {
  for (const auto& path : {files_.control, files_.data, files_.lock}) unlink(path.c_str());
}

void FuzzedRing::scribble(std::span<const Scribble> scribbles) const {
  for (const Scribble& one : scribbles) apply(one);
}

void FuzzedRing::apply(const Scribble& scribble) const {
  std::string_view bytes(reinterpret_cast<const char*>(&scribble.value), scribble.bytes);
  const auto control = [&](std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t offset = begin + scribble.offset % (end - begin);
    write_part(control_.get(), offset, bytes.substr(0, std::min<std::uint64_t>(bytes.size(), end - offset)));
  };
  switch (scribble.part) {
    case Part::kHeader:
      return control(0, offsets_.participants);
    case Part::kParticipants:
      return control(offsets_.participants, offsets_.groups);
    case Part::kGroups:
      return control(offsets_.groups, offsets_.producer);
    case Part::kProducer:
      return control(offsets_.producer, offsets_.producer_words);
    case Part::kProducerWords:
      return control(offsets_.producer_words, offsets_.group_words);
    case Part::kGroupWords:
      return control(offsets_.group_words, offsets_.lease_stamps);
    case Part::kLeaseStamps:
      return control(offsets_.lease_stamps, offsets_.total);
    case Part::kDataHeader:
      return write_part(data_.get(), scribble.offset % sizeof(DataHeader), bytes);
    case Part::kSlots:
      return write_part(data_.get(), slot_offset(scribble.slot % spec_.slot_count) + scribble.offset, bytes);
    case Part::kControlLength:
      return scribble.late ? void() : change_length(control_.get(), scribble.value);
    case Part::kDataLength:
      return scribble.late ? void() : change_length(data_.get(), scribble.value);
    case Part::kCount:
      return;
  }
}

}  // namespace tailrace::fuzzing
