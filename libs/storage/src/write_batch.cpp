#include "rampart/storage/write_batch.hpp"

namespace rampart::storage {

void WriteBatch::add(Kind kind, ColumnFamily family, std::string_view key, std::string_view value) {
    changes_.push_back({kind, family, std::string(key), std::string(value)});
    bytes_ += key.size() + value.size();
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

void WriteBatch::clear() {
    changes_.clear();
    bytes_ = 0;
}

}  // namespace rampart::storage
