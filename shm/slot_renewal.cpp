#include "shm/slot_renewal.hpp"

#include <algorithm>
#include <string>
#include <system_error>

#include "shm/mapped_pages.hpp"
#include "shm/no_room.hpp"

namespace tailrace {

void renew_slot(const Ring& ring, SlotId slot, std::uint64_t bytes) {
  const MappedPages pages = ring.slot_pages(slot);
  std::error_code error = give_back(pages);
  if (!error) error = populate(pages.part(0, std::min(bytes, ring.geometry().slot_bytes)));
  if (error == std::errc::no_space_on_device) throw no_room(pages.fd, ring.files().data, bytes);
  if (error)
    throw std::system_error(error, "cannot make the memory of slot " + std::to_string(index_of(slot)) +
                                       " of " + ring.files().data.string() + " anew");
}

}  // namespace tailrace
