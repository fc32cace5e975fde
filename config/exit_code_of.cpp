#include "config/exit_code_of.hpp"

#include <cerrno>
#include <new>
#include <system_error>

#include "config/config_error.hpp"

namespace tailrace {
namespace {

ExitCode exit_code_of_errno(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return kExitPermission;
    case EBADMSG:
      return kExitDamagedRing;
    case EIO:
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return kExitIo;
    case ENOMEM:
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case EADDRINUSE:
    case EADDRNOTAVAIL:
      return kExitTryAgain;
    case ENODEV:
    case ENXIO:
      return kExitNoDevice;
    default:
      return kExitUnexpected;
  }
}

}  // namespace

ExitCode exit_code_of(const std::exception& error) {
  if (dynamic_cast<const ConfigError*>(&error) != nullptr) return kExitConfig;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return kExitTryAgain;
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  const bool posix = system != nullptr && (system->code().category() == std::generic_category() ||
                                           system->code().category() == std::system_category());
  return posix ? exit_code_of_errno(system->code().value()) : kExitUnexpected;
}

}  // namespace tailrace
