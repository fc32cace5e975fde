#include "config/config_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>

#include "config/quantities.hpp"
#include "config/text.hpp"
#include "config/toml_reader.hpp"

namespace tailrace {
namespace {

constexpr std::size_t kMaxFileBytes = 1u << 20;
constexpr std::size_t kReadBytes = 16u << 10;
constexpr std::string_view kGroupTable = "group";

[[noreturn]] void refuse_file(const std::string& path, const std::string& message,
                              TextPosition position = {}) {
  ConfigIssue issue;
  issue.origin = {Origin::Layer::kFile, path, position};
  issue.message = message;
  throw ConfigError({std::move(issue)});
}

class FileDescriptor {
 public:
  explicit FileDescriptor(const std::string& path)
      // Non-blocking, or a FIFO in the file's place would hang the start.
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void refuse_errno(const std::string& path, int error) {
  if (error == EACCES || error == EPERM)
    throw std::system_error(error, std::generic_category(),
                            "cannot read the configuration " + printable(path));
  refuse_file(path, "the configuration cannot be read: " + std::generic_category().message(error));
}

std::string read_all(const std::string& path) {
  if (path.find('\0') != std::string::npos) refuse_file(path, "a file name cannot contain a NUL byte");
  const FileDescriptor file(path);
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) refuse_errno(path, errno);
  if (!S_ISREG(status.st_mode))
    refuse_file(path, "the configuration must be a regular file; this is something else");
  std::string text;
  std::size_t length = 0;
  for (;;) {
    if (length == text.size()) text.resize(std::min(length + kReadBytes, kMaxFileBytes + 1));
    if (length == text.size()) break;  // larger than it may be
    const ssize_t got = read(file.get(), text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse_errno(path, errno);
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  if (length > kMaxFileBytes)
    refuse_file(path, "a configuration has at most " + size_text(kMaxFileBytes) + "; this file is larger");
  text.resize(length);
  return text;
}

/// Walks over a parsed file.
class DocumentReader {
 public:
  DocumentReader(Draft& draft, const std::string& path) : draft_(draft), path_(path) {
    for (const Key& key : all_keys()) {
      names_.emplace_back(key.name);
      for (auto dot = key.name.find('.'); dot != std::string_view::npos; dot = key.name.find('.', dot + 1))
        sections_.emplace(key.name.substr(0, dot));
    }
  }

  void read(const TomlValue& document) {
    for (const TomlValue::Member& member : *document.get<TomlValue::Table>()) {
      if (member.key == kGroupTable)
        read_groups(member);
      else
        read_member(member, "", 0);
    }
  }

 private:
  [[nodiscard]] Origin origin(TextPosition position) const { return {Origin::Layer::kFile, path_, position}; }

  void read_member(const TomlValue::Member& member, const std::string& prefix, std::size_t group) {
    const std::string name = prefix + member.key;
    const Key* key = member.key.find('.') == std::string::npos ? find_key(name) : nullptr;
    if (key != nullptr)
      draft_.assign(*key, group, member.value, origin(member.value.position));
    else if (sections_.contains(name))
      read_section(member, name, group);
    else
      refuse_unknown(member, name, group);
  }

  void read_section(const TomlValue::Member& member, const std::string& name, std::size_t group) {
    const auto* table = member.value.get<TomlValue::Table>();
    if (table == nullptr) {
      draft_.add_issue({origin(member.value.position), draft_.display_name(name, group),
                        to_text(member.value), "must be a table of keys"});
      return;
    }
    for (const TomlValue::Member& inner : *table) read_member(inner, name + ".", group);
  }

  void read_groups(const TomlValue::Member& member) {
    const auto* groups = member.value.get<TomlValue::Array>();
    if (groups == nullptr || std::any_of(groups->begin(), groups->end(),
                                         [](const auto& g) { return !g.template get<TomlValue::Table>(); })) {
      draft_.add_issue({origin(member.position), std::string(kGroupTable), "",
                        "must be written [[group]], once for each group, with its keys below"});
      return;
    }
    if (groups->size() > kMaxGroups)
      draft_.add_issue(
          {origin((*groups)[kMaxGroups].position), std::string(kGroupTable), "",
           "at most " + std::to_string(kMaxGroups) + " groups; these are " + std::to_string(groups->size())});
    draft_.config().groups.resize(std::min(groups->size(), kMaxGroups));
    for (std::size_t group = 0; group < draft_.config().groups.size(); ++group)
      read_group((*groups)[group], group);
  }

  // The name first: messages about the other keys bear it.
  void read_group(const TomlValue& value, std::size_t group) {
    const auto& members = *value.get<TomlValue::Table>();
    const auto is_name_key = [](const TomlValue::Member& member) { return member.key == "name"; };
    for (const bool name_pass : {true, false})
      for (const TomlValue::Member& member : members)
        if (is_name_key(member) == name_pass) read_member(member, std::string(kGroupPrefix), group);
  }

  void refuse_unknown(const TomlValue::Member& member, const std::string& name, std::size_t group) {
    const bool is_table = member.value.get<TomlValue::Table>() != nullptr;
    const std::vector<std::string> sections(sections_.begin(), sections_.end());
    const std::string meant = nearest(name, is_table ? sections : names_);
    draft_.add_issue({origin(member.position), shortened(draft_.display_name(name, group), 120), "",
                      std::string(is_table ? "unknown section" : "unknown key") +
                          (meant.empty() ? "; the known ones: tailrace validate --reference"
                                         : "; did you mean " + draft_.display_name(meant, group) + "?")});
  }

  Draft& draft_;
  const std::string& path_;
  std::vector<std::string> names_;
  std::set<std::string, std::less<>> sections_;
};

}  // namespace

TomlValue read_config_file(const std::string& path) {
  const std::string text = read_all(path);
  try {
    return parse_toml(text);
  } catch (const TomlSyntaxError& error) {
    refuse_file(path, printable(error.what()), error.position());
  }
}

void apply_document(Draft& draft, const TomlValue& document, const std::string& path) {
  DocumentReader(draft, path).read(document);
  if (draft.config().groups.empty()) draft.config().groups.emplace_back();
}

}  // namespace tailrace
