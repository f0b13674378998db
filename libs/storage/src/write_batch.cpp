#include "rampart/storage/write_batch.hpp"

#include <algorithm>

#include "rampart/base/check.hpp"

namespace rampart::storage {

void WriteBatch::add(Kind kind, ColumnFamily family, std::string_view key, std::string_view value) {
    changes_.push_back({kind, family, bytes_.size(), key.size(), value.size()});
    bytes_ += key;
    bytes_ += value;
}

std::string_view WriteBatch::key_of(const Change& change) const {
    return std::string_view(bytes_).substr(change.begin, change.key_size);
}

std::string_view WriteBatch::value_of(const Change& change) const {
    return std::string_view(bytes_).substr(change.begin + change.key_size, change.value_size);
}

void WriteBatch::put(ColumnFamily family, std::string_view key, std::string_view value) {
    add(Kind::kPut, family, key, value);
}

void WriteBatch::erase(ColumnFamily family, std::string_view key) {
    add(Kind::kErase, family, key, {});
}

void WriteBatch::erase_range(ColumnFamily family, std::string_view begin, std::string_view end) {
    add(Kind::kEraseRange, family, begin, end);
}

void WriteBatch::sort() {
    const auto ranges = [](const Change& change) { return change.kind == Kind::kEraseRange; };
    RAMPART_CHECK(std::none_of(changes_.begin(), changes_.end(), ranges),
                  "a batch that erases a range cannot be sorted");
    std::stable_sort(changes_.begin(), changes_.end(), [&](const Change& a, const Change& b) {
        return a.family != b.family ? a.family < b.family : key_of(a) < key_of(b);
    });
}

void WriteBatch::clear() {
    changes_.clear();
    bytes_.clear();
}

}  // namespace rampart::storage
