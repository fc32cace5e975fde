#include "config/array_value.hpp"

#include <cmath>

#include "config/text.hpp"

namespace tailrace {
namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 62;

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

}  // namespace tailrace
