#include "rampart/storage/write_batch.hpp"

namespace rampart::storage {

void WriteBatch::put(ColumnFamily family, std::string_view key, std::string_view value) {
    changes_.push_back({Kind::kPut, family, std::string(key), std::string(value)});
}

void WriteBatch::erase(ColumnFamily family, std::string_view key) {
    changes_.push_back({Kind::kErase, family, std::string(key), {}});
}

void WriteBatch::erase_range(ColumnFamily family, std::string_view begin, std::string_view end) {
    changes_.push_back({Kind::kEraseRange, family, std::string(begin), std::string(end)});
}

}  // namespace rampart::storage
