#pragma once

#include <mutex>
#include <optional>

#include "rampart/base/result.hpp"
#include "rampart/storage/reasons.hpp"

namespace rampart::storage {

/// Whether an error says that stored bytes are not what was written, and nothing else.
inline bool is_damage(const base::Error& error) {
    return error.code == base::ErrorCode::kDataLoss && error.is(Reason::kCorrupt);
}

/// The first damage that was met in a database. Thread safe.
class DamageNote {
  public:
    /// Keeps the error if it is the first that is_damage().
    void take(const base::Error& error) {
        if (!is_damage(error)) return;
        const std::lock_guard lock(mutex_);
        if (!first_) first_ = error;
    }
    base::Status status() const {
        const std::lock_guard lock(mutex_);
        return first_ ? base::Status(*first_) : base::ok();
    }

  private:
    mutable std::mutex mutex_;
    std::optional<base::Error> first_;
};

}  // namespace rampart::storage
