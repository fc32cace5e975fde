#include "config/value_type.hpp"

#include <grp.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "config/quantities.hpp"
#include "config/text.hpp"

namespace tailrace {
namespace {

constexpr std::size_t kMaxStringBytes = 4095;  // PATH_MAX without its NUL
constexpr std::int64_t kMaxElements = std::int64_t{1} << 62;
constexpr std::uint32_t kMaxCudaIndex = 127;
constexpr std::uint32_t kMaxShards = 65536;
constexpr std::uint32_t kMinMode = 0600;
constexpr std::uint32_t kMaxMode = 0664;

std::string must_be(std::string_view form) { return "must be " + std::string(form); }

/// Type mismatches always say both sides.
std::string wrong_type(std::string_view form, const TomlValue& value) {
  return must_be(form) + "; this is " + type_name(value);
}

template <class T>
std::string bracketed(const std::vector<T>& values, std::string (*text)(const T&)) {
  std::string out;
  for (const T& value : values) out += (out.empty() ? "" : ", ") + text(value);
  return "[" + out + "]";
}

std::optional<double> as_real(const TomlValue& value) {
  if (const auto* real = value.get<double>()) return *real;
  if (const auto* integer = value.get<std::int64_t>()) return static_cast<double>(*integer);
  return std::nullopt;
}

Problem check_text(const std::string& text) {
  if (text.find('\0') != std::string::npos) return "must not contain a NUL character";
  if (text.size() > kMaxStringBytes)
    return "must not be longer than " + std::to_string(kMaxStringBytes) + " bytes; this is " +
           std::to_string(text.size());
  return std::nullopt;
}

/// A string whose text `store` checks and keeps.
ValueType text_value(const std::string& form,
                     const std::function<Problem(const Scope&, const std::string&)>& store,
                     const std::function<std::string(const Scope&)>& get) {
  return {form,
          [form, store](const Scope& scope, const TomlValue& value) -> Problem {
            const auto* text = value.get<std::string>();
            if (text == nullptr) return wrong_type(form, value);
            if (Problem problem = check_text(*text)) return problem;
            return store(scope, *text);
          },
          [get](const Scope& scope) { return quote(get(scope)); }};
}

template <class T>
ValueType integer_of(const Field<T>& field, std::uint64_t min, std::uint64_t max) {
  const std::string form = "integer, " + std::to_string(min) + " to " + std::to_string(max);
  return {form,
          [=](const Scope& scope, const TomlValue& value) -> Problem {
            const auto* number = value.get<std::int64_t>();
            if (number == nullptr) return wrong_type("an " + form, value);
            if (*number < 0 || static_cast<std::uint64_t>(*number) < min ||
                static_cast<std::uint64_t>(*number) > max)
              return must_be("an " + form);
            field(scope) = static_cast<T>(*number);
            return std::nullopt;
          },
          [=](const Scope& scope) { return std::to_string(field(scope)); }};
}

/// Takes a decimal integer without sign off the front of `text`.
std::optional<std::uint32_t> take_integer(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool unix_group_exists(const std::string& name) {
  std::vector<char> buffer(1024);
  group entry{};
  group* found = nullptr;
  while (getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) == ERANGE &&
         buffer.size() < (1u << 24))
    buffer.resize(buffer.size() * 2);
  return found != nullptr;
}

std::string device_text(const DeviceConfig& device) {
  switch (device.kind) {
    case DeviceConfig::Kind::kAuto:
      return "auto";
    case DeviceConfig::Kind::kCpu:
      return "cpu";
    case DeviceConfig::Kind::kCuda:
      return device.index == 0 ? "cuda" : "cuda:" + std::to_string(device.index);
  }
  return "auto";
}

std::optional<DeviceConfig> parse_device(std::string_view text) {
  if (text == "auto") return DeviceConfig{DeviceConfig::Kind::kAuto, 0};
  if (text == "cpu") return DeviceConfig{DeviceConfig::Kind::kCpu, 0};
  if (text == "cuda") return DeviceConfig{DeviceConfig::Kind::kCuda, 0};
  if (!text.starts_with("cuda:")) return std::nullopt;
  text.remove_prefix(5);
  const auto index = take_integer(text);
  if (!index || !text.empty() || *index > kMaxCudaIndex) return std::nullopt;
  return DeviceConfig{DeviceConfig::Kind::kCuda, static_cast<int>(*index)};
}

std::string octal(std::uint32_t mode) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04o", mode);
  return text.data();
}

std::optional<std::uint32_t> parse_octal(std::string_view text) {
  std::uint32_t mode = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return mode;
}

/// The elements as T; empty if one of them is none, or their number is not `min` … `max`.
template <class T>
std::optional<std::vector<T>> elements_of(const TomlValue& value, std::size_t min, std::size_t max) {
  const auto* array = value.get<TomlValue::Array>();
  if (array == nullptr || array->size() < min || array->size() > max) return std::nullopt;
  std::vector<T> elements;
  for (const TomlValue& element : *array) {
    const T* typed = element.get<T>();
    if (typed == nullptr) return std::nullopt;
    elements.push_back(*typed);
  }
  return elements;
}

Problem check_shape(const std::vector<std::int64_t>& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) {
    if (size < 1) return must_be("made of sizes from 1 up");
    if (size > kMaxElements / elements) return "has more elements than fit in memory";
    elements *= size;
  }
  return std::nullopt;
}

}  // namespace

ValueType boolean_value(const Field<bool>& field) {
  return {"true or false",
          [=](const Scope& scope, const TomlValue& value) -> Problem {
            const auto* flag = value.get<bool>();
            if (flag == nullptr) return wrong_type("true or false", value);
            field(scope) = *flag;
            return std::nullopt;
          },
          [=](const Scope& scope) { return std::string(field(scope) ? "true" : "false"); }};
}

ValueType integer_value(const Field<std::uint64_t>& field, std::uint64_t min, std::uint64_t max) {
  return integer_of(field, min, max);
}

ValueType integer_value(const Field<std::uint32_t>& field, std::uint32_t min, std::uint32_t max) {
  return integer_of(field, min, max);
}

ValueType shape_value(const Field<std::vector<std::int64_t>>& field, std::size_t max_rank) {
  const std::string form = "array of up to " + std::to_string(max_rank) + " integers from 1";
  return {form,
          [=](const Scope& scope, const TomlValue& value) -> Problem {
            auto shape = elements_of<std::int64_t>(value, 0, max_rank);
            if (!shape) return must_be("an " + form);
            if (Problem problem = check_shape(*shape)) return problem;
            field(scope) = std::move(*shape);
            return std::nullopt;
          },
          [=](const Scope& scope) {
            return bracketed<std::int64_t>(field(scope),
                                           [](const std::int64_t& n) { return std::to_string(n); });
          }};
}

ValueType image_size_value(const Field<std::uint32_t>& height, const Field<std::uint32_t>& width,
                           std::uint32_t max) {
  const std::string form = "[height, width] in pixels, each 1 to " + std::to_string(max);
  return {form,
          [=](const Scope& scope, const TomlValue& value) -> Problem {
            const auto size = elements_of<std::int64_t>(value, 2, 2);
            if (!size || std::any_of(size->begin(), size->end(), [&](auto n) { return n < 1 || n > max; }))
              return must_be(form);
            height(scope) = static_cast<std::uint32_t>((*size)[0]);
            width(scope) = static_cast<std::uint32_t>((*size)[1]);
            return std::nullopt;
          },
          [=](const Scope& scope) {
            return "[" + std::to_string(height(scope)) + ", " + std::to_string(width(scope)) + "]";
          }};
}

ValueType colour_value(const Field<std::vector<double>>& field, bool positive) {
  const std::string form = positive ? "array of 3 numbers above 0" : "array of 3 numbers";
  return {form,
          [=](const Scope& scope, const TomlValue& value) -> Problem {
            const auto* array = value.get<TomlValue::Array>();
            if (array == nullptr || array->size() != 3) return must_be("an " + form + ": red, green, blue");
            std::vector<double> colours;
            for (const TomlValue& element : *array) {
              const auto colour = as_real(element);
              if (!colour || !std::isfinite(*colour) || (positive && *colour <= 0))
                return must_be("an " + form);
              colours.push_back(*colour);
            }
            field(scope) = std::move(colours);
            return std::nullopt;
          },
          [=](const Scope& scope) {
            return bracketed<double>(field(scope), [](const double& n) { return real_text(n); });
          }};
}

ValueType string_value(const Field<std::string>& field) {
  return text_value(
      "string",
      [=](const Scope& scope, const std::string& text) -> Problem {
        field(scope) = text;
        return std::nullopt;
      },
      field);
}

ValueType name_value(const Field<std::string>& field) {
  return text_value(
      "name of 1 to 64 letters, digits, _ and -",
      [=](const Scope& scope, const std::string& text) -> Problem {
        if (!is_name(text)) return must_be("made of 1 to 64 letters A-Z a-z, digits, _ and -");
        field(scope) = text;
        return std::nullopt;
      },
      field);
}

ValueType path_value(const Field<std::string>& field) {
  return text_value(
      "path",
      [=](const Scope& scope, const std::string& text) -> Problem {
        field(scope) = text.empty() ? text : (scope.base / text).lexically_normal().string();
        return std::nullopt;
      },
      field);
}

ValueType strings_value(const Field<std::vector<std::string>>& field, std::size_t max_count, bool unique) {
  const std::string form = "array of up to " + std::to_string(max_count) + " strings";
  return {form,
          [=](const Scope& scope, const TomlValue& value) -> Problem {
            auto strings = elements_of<std::string>(value, 0, max_count);
            if (!strings) return must_be("an " + form);
            for (auto text = strings->begin(); text != strings->end(); ++text) {
              if (Problem problem = check_text(*text)) return problem;
              if (unique && std::find(strings->begin(), text, *text) != text)
                return quote(*text) + " is there twice";
            }
            field(scope) = std::move(*strings);
            return std::nullopt;
          },
          [=](const Scope& scope) {
            return bracketed<std::string>(field(scope), [](const std::string& text) { return quote(text); });
          }};
}

ValueType size_or_auto_value(const Field<std::optional<std::uint64_t>>& field, std::uint64_t min,
                             std::uint64_t max) {
  const std::string form = "\"auto\", or a size from " + size_text(min) + " to " + size_text(max);
  return {form,
          [=](const Scope& scope, const TomlValue& value) -> Problem {
            const auto* text = value.get<std::string>();
            const auto* number = value.get<std::int64_t>();
            if (text == nullptr && number == nullptr) return wrong_type(form, value);
            if (text != nullptr && *text == "auto") {
              field(scope).reset();
              return std::nullopt;
            }
            if (number != nullptr && *number < 0) return must_be(form);
            const Quantity size =
                text != nullptr ? parse_size_bytes(*text) : static_cast<std::uint64_t>(*number);
            if (const auto* problem = std::get_if<std::string>(&size)) return *problem + ", or \"auto\"";
            const auto bytes = std::get<std::uint64_t>(size);
            if (bytes < min || bytes > max) return must_be(form);
            field(scope) = bytes;
            return std::nullopt;
          },
          [=](const Scope& scope) { return quote(field(scope) ? size_text(*field(scope)) : "auto"); }};
}

ValueType device_value(const Field<DeviceConfig>& field) {
  const std::string form = "\"auto\", \"cpu\", \"cuda\" or \"cuda:N\"";
  return text_value(
      form,
      [=](const Scope& scope, const std::string& text) -> Problem {
        const auto device = parse_device(text);
        if (!device) return must_be(form) + " with N from 0 to " + std::to_string(kMaxCudaIndex);
        field(scope) = *device;
        return std::nullopt;
      },
      [=](const Scope& scope) { return device_text(field(scope)); });
}

ValueType shard_value(const Field<std::uint32_t>& index, const Field<std::uint32_t>& count) {
  const std::string form = "\"INDEX/COUNT\"";
  return text_value(
      form,
      [=](const Scope& scope, const std::string& text) -> Problem {
        std::string_view rest = text;
        const auto part = take_integer(rest);
        if (!part || !rest.starts_with('/')) return must_be(form) + " such as \"0/4\"";
        rest.remove_prefix(1);
        const auto parts = take_integer(rest);
        if (!parts || !rest.empty()) return must_be(form) + " such as \"0/4\"";
        if (*parts < 1 || *parts > kMaxShards)
          return "must have a COUNT from 1 to " + std::to_string(kMaxShards);
        if (*part >= *parts) return "must have an INDEX below its COUNT: 0 to " + std::to_string(*parts - 1);
        index(scope) = *part;
        count(scope) = *parts;
        return std::nullopt;
      },
      [=](const Scope& scope) { return std::to_string(index(scope)) + "/" + std::to_string(count(scope)); });
}

ValueType mode_value(const Field<std::uint32_t>& field) {
  const std::string form = "octal text, \"0600\" to \"0664\"";
  return text_value(
      form,
      [=](const Scope& scope, const std::string& text) -> Problem {
        const auto mode = parse_octal(text);
        if (!mode) return must_be(form);
        if ((*mode & kMinMode) != kMinMode) return "must let the owner read and write: at least \"0600\"";
        if ((*mode & ~kMaxMode) != 0)
          return "must let nobody execute and no stranger write: at most \"0664\"";
        field(scope) = *mode;
        return std::nullopt;
      },
      [=](const Scope& scope) { return octal(field(scope)); });
}

ValueType unix_group_value(const Field<std::string>& field) {
  return text_value(
      "name of a Unix group",
      [=](const Scope& scope, const std::string& text) -> Problem {
        if (!text.empty() && !unix_group_exists(text))
          return "is no Unix group of this machine (see getent group)";
        field(scope) = text;
        return std::nullopt;
      },
      field);
}

ValueType duration_value_ns(const std::function<std::uint64_t(const Scope&)>& get,
                            const std::function<void(const Scope&, std::uint64_t)>& set,
                            std::uint64_t resolution_ns, std::uint64_t min_ns, std::uint64_t max_ns) {
  const std::string form = "time, " + duration_text(min_ns) + " to " + duration_text(max_ns);
  return {form,
          [=](const Scope& scope, const TomlValue& value) -> Problem {
            const auto* number = value.get<std::int64_t>();
            const auto* text = value.get<std::string>();
            if (text == nullptr && (number == nullptr || *number != 0))
              return wrong_type("a " + form + ", as text with its unit", value);
            const Quantity time = parse_duration_ns(text != nullptr ? *text : "0");
            if (const auto* problem = std::get_if<std::string>(&time)) return *problem;
            const auto ns = std::get<std::uint64_t>(time);
            if (ns < min_ns || ns > max_ns) return must_be("a " + form);
            if (ns % resolution_ns != 0) return "must be a multiple of " + duration_text(resolution_ns);
            set(scope, ns);
            return std::nullopt;
          },
          [=](const Scope& scope) { return quote(duration_text(get(scope))); }};
}

ValueType choice_value_by_index(const std::vector<Choice<std::size_t>>& choices,
                                const std::function<std::size_t(const Scope&)>& get,
                                const std::function<void(const Scope&, std::size_t)>& set) {
  std::string form;
  std::vector<std::string> names;
  for (const auto& choice : choices) {
    names.push_back(choice.name);
    form += (form.empty() ? "" : " | ") + quote(choice.name) +
            (choice.not_built.empty() ? "" : " (not built yet)");
  }
  const auto get_name = [=](const Scope& scope) { return names.at(get(scope)); };
  return text_value(
      form,
      [=](const Scope& scope, const std::string& text) -> Problem {
        const auto choice =
            std::find_if(choices.begin(), choices.end(), [&](const auto& c) { return c.name == text; });
        if (choice == choices.end()) {
          const std::string meant = nearest(text, names);
          return "must be one of " + form + (meant.empty() ? "" : "; did you mean " + quote(meant) + "?");
        }
        if (!choice->not_built.empty()) return "is not built yet; " + choice->not_built;
        set(scope, choice->value);
        return std::nullopt;
      },
      get_name);
}

}  // namespace tailrace
