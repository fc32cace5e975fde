#include "config/value_type.hpp"

#include <string_view>

#include "config/quantities.hpp"
#include "config/text.hpp"

namespace tailrace {
namespace {

constexpr std::size_t kMaxStringBytes = 4095;  // PATH_MAX without its NUL

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

}  // namespace

std::string must_be(std::string_view form) { return "must be " + std::string(form); }

std::string wrong_type(std::string_view form, const TomlValue& value) {
  return must_be(form) + "; this is " + type_name(value);
}

Problem check_text(const std::string& text) {
  if (text.find('\0') != std::string::npos) return "must not contain a NUL character";
  if (text.size() > kMaxStringBytes)
    return "must not be longer than " + std::to_string(kMaxStringBytes) + " bytes; this is " +
           std::to_string(text.size());
  return std::nullopt;
}

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
