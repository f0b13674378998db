#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

namespace rampart::http {

/// Counts the connections of each principal, so that none can have them all. Thread safe.
class ConnectionShares {
  public:
    /// `most`: connections of one principal; 0: no limit.
    void open(size_t most) { most_ = most; }

    /// Takes a connection for the principal; false: it has as many as it may have.
    bool take(const std::string& principal) {
        const std::lock_guard lock(mutex_);
        auto& taken = taken_[principal];
        if (most_ > 0 && taken >= most_) return false;
        ++taken;
        return true;
    }
    void give_back(const std::string& principal) {
        const std::lock_guard lock(mutex_);
        const auto it = taken_.find(principal);
        if (it != taken_.end() && --it->second == 0) taken_.erase(it);
    }

  private:
    size_t most_ = 0;
    std::mutex mutex_;
    std::map<std::string, size_t> taken_;
};

}  // namespace rampart::http
