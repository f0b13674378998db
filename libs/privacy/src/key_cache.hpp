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

/// The keys that were used last: what is sealed is read back at once, by the index and by the
/// joiner. Of the order of kSize keys, the oldest go first. Nothing else is known of a key that is
/// found here: whoever destroys one has to clear() it all. Thread safe.
class KeyCache {
  public:
    /// Taken before a key is looked up elsewhere, given to put() after: a key that was destroyed
    /// between the two does not come in.
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
    /// `seals`: it is the key that the person's letters are sealed with.
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
    std::unordered_map<std::string, std::string> ids_;      // tag -> id of the key that seals
    std::unordered_map<std::string, std::string> secrets_;  // id -> key
    std::deque<Entry> order_;
};

}  // namespace rampart::privacy
