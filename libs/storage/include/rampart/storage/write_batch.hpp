#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rampart::storage {

/// A column family: its position in the list of names that Database::open was given.
struct ColumnFamily {
    uint32_t index = 0;
    auto operator<=>(const ColumnFamily&) const = default;
};

/// Changes that take effect together or not at all, in the order given. Owns its bytes. Not thread
/// safe.
class WriteBatch {
  public:
    void put(ColumnFamily family, std::string_view key, std::string_view value);
    void erase(ColumnFamily family, std::string_view key);
    /// Every key in [begin, end).
    void erase_range(ColumnFamily family, std::string_view begin, std::string_view end);

    /// Puts the changes in the order of family and key; those of one key stay as they are. Sorted
    /// keys go into a database in about half the time of those that come as they like. Not for
    /// batches with erase_range().
    void sort();

    bool empty() const { return changes_.empty(); }
    size_t size() const { return changes_.size(); }
    size_t bytes() const { return bytes_.size(); }  // size of keys and values
    void clear();

  private:
    friend class Database;
    enum class Kind : uint8_t { kPut, kErase, kEraseRange };
    /// Key and value lie behind one another in bytes_, the former from `begin` on: a change costs
    /// no allocation of its own.
    struct Change {
        Kind kind;
        ColumnFamily family;
        size_t begin, key_size, value_size;  // value: the end of the range for kEraseRange
    };
    void add(Kind kind, ColumnFamily family, std::string_view key, std::string_view value);
    std::string_view key_of(const Change& change) const;
    std::string_view value_of(const Change& change) const;
    std::vector<Change> changes_;
    std::string bytes_;
};

}  // namespace rampart::storage
