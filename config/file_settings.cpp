#include "config/file_settings.hpp"

#include <filesystem>
#include <utility>

#include "config/config_file.hpp"
#include "config/draft.hpp"

namespace tailrace {

FileSettings read_file_settings(const std::string& path) {
  const TomlValue document = read_config_file(path);
  Draft draft(std::filesystem::absolute(path).lexically_normal().parent_path());
  apply_document(draft, document, path);
  return {std::move(draft.config()), draft.issues(), draft.base()};
}

}  // namespace tailrace
