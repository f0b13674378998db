#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "rampart/base/error.hpp"

namespace rampart::base {

/// A value or an Error. Unlike tl::expected it is [[nodiscard]].
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
  public:
    using Base = tl::expected<T, Error>;
    using Base::Base;
    Result(Base base) : Base(std::move(base)) {}
    Result(Error error) : Base(tl::unexpected<Error>(std::move(error))) {}
};

using Status = Result<void>;

/// Returns a success Status, for operations that yield no value.
inline Status ok() { return Status{}; }

}  // namespace rampart::base

#define RAMPART_CONCAT_INNER(a, b) a##b
#define RAMPART_CONCAT(a, b) RAMPART_CONCAT_INNER(a, b)

/// RAMPART_TRY(auto x, f()); declares x, or returns the error of f.
#define RAMPART_TRY(declaration, ...) \
    RAMPART_TRY_INNER(RAMPART_CONCAT(rampart_try_, __LINE__), declaration, __VA_ARGS__)
#define RAMPART_TRY_INNER(name, declaration, ...)                      \
    auto name = (__VA_ARGS__);                                         \
    if (!name) return ::rampart::base::Error(std::move(name).error()); \
    declaration = *std::move(name)

/// RAMPART_RETURN_IF_ERROR(f()); for a Status.
#define RAMPART_RETURN_IF_ERROR(...)                                                           \
    do {                                                                                       \
        auto rampart_status = (__VA_ARGS__);                                                   \
        if (!rampart_status) return ::rampart::base::Error(std::move(rampart_status).error()); \
    } while (false)
