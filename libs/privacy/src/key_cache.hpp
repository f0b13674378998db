#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "rampart/privacy/person_tag.hpp"

namespace rampart::privacy {

struct Key {
    std::string id, secret;
};

/// The most recently used keys: sealed records are read back soon, by the index and by the joiner.
/// About kSize keys, oldest evicted first. A key found here is not checked for destruction: the
/// code that destroys a key must clear() the whole cache. Thread safe.
class KeyCache {
  public:
    /// Returns the generation. Get it before a key is looked up elsewhere and pass it to put()
    /// afterwards: a key that was destroyed in between is not added.
    uint64_t generation() const {
        const std::lock_guard lock(mutex_);
        return generation_;
    }
    std::optional<Key> of_person(const PersonTag& tag) const {
        const std::lock_guard lock(mutex_);
        const auto id = ids_.find(tag.value());
        if (id == ids_.end()) return std::nullopt;
        return Key{id->second, secrets_.at(id->second)};
    }
    std::optional<std::string> secret_of(const std::string& id) const {
        const std::lock_guard lock(mutex_);
        const auto secret = secrets_.find(id);
        return secret == secrets_.end() ? std::nullopt : std::optional(secret->second);
    }
    /// Adds a key. `seals`: new letters of this person are sealed with it.
    void put(uint64_t generation, const PersonTag& tag, const Key& key, bool seals) {
        const std::lock_guard lock(mutex_);
        if (generation != generation_) return;
        if (secrets_.emplace(key.id, key.secret).second) order_.push_back({tag.value(), key.id});
        if (seals) ids_[tag.value()] = key.id;
        if (order_.size() <= kSize) return;
        const auto& oldest = order_.front();
        const auto id = ids_.find(oldest.tag);
        if (id != ids_.end() && id->second == oldest.id) ids_.erase(id);
        secrets_.erase(oldest.id);
        order_.pop_front();
    }
    void clear() {
        const std::lock_guard lock(mutex_);
        ++generation_;
        ids_.clear();
        secrets_.clear();
        order_.clear();
    }

    static constexpr size_t kSize = 8192;

  private:
    struct Entry {
        std::string tag, id;
    };
    mutable std::mutex mutex_;
    uint64_t generation_ = 0;
    std::unordered_map<std::string, std::string> ids_;      // tag -> id of the sealing key
    std::unordered_map<std::string, std::string> secrets_;  // id -> key
    std::deque<Entry> order_;
};

}  // namespace rampart::privacy
