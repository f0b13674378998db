#pragma once

#include <fmt/format.h>

#include <compare>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

namespace rampart::base {

/// Wrapper that gives a value a type of its own with explicit conversions only, so that ids and
/// units cannot be mixed up. `using LoanId = StrongType<std::string, struct LoanIdTag>;`
template <class T, class Tag>
class StrongType {
  public:
    using Value = T;
    StrongType() = default;
    explicit StrongType(T value) : value_(std::move(value)) {}

    const T& value() const& { return value_; }
    T&& value() && { return std::move(value_); }

    auto operator<=>(const StrongType&) const = default;
    bool operator==(const StrongType&) const = default;

  private:
    T value_{};
};

}  // namespace rampart::base

template <class T, class Tag>
struct std::hash<rampart::base::StrongType<T, Tag>> {
    size_t operator()(const rampart::base::StrongType<T, Tag>& strong) const {
        return std::hash<T>{}(strong.value());
    }
};

template <class T, class Tag>
struct fmt::formatter<rampart::base::StrongType<T, Tag>> : fmt::formatter<T> {
    template <class Context>
    auto format(const rampart::base::StrongType<T, Tag>& strong, Context& context) const {
        return fmt::formatter<T>::format(strong.value(), context);
    }
};
