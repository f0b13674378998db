#include "rampart/protected_attributes/persons.hpp"

#include "rampart/base/bytes.hpp"
#include "rampart/storage/database.hpp"

namespace rampart::protected_attributes {

base::Status visit_persons(const std::filesystem::path& folder, const PersonVisitor& visit) {
    using base::Result;
    constexpr size_t kSuffix = 1 + 8;  // 0x00 and a time behind the person id
    RAMPART_TRY(const auto db, storage::Database::open(folder, {"people", "history"},
                                                       {.create = false, .read_only = true}));
    const auto visit_version = [&](std::string_view key, std::string_view) -> Result<bool> {
        if (key.size() <= kSuffix) return true;  // ProtectedStore::check says so
        base::ByteReader time(key.substr(key.size() - 8));
        RAMPART_TRY(const int64_t micros, time.i64());
        const domain::PersonId person(std::string(key.substr(0, key.size() - kSuffix)));
        RAMPART_RETURN_IF_ERROR(visit(person, base::TimePoint::from_micros(micros)));
        return true;
    };
    const storage::ColumnFamily people{0}, history{1};
    RAMPART_RETURN_IF_ERROR(db->scan(history, storage::KeyRange::all(), visit_version));
    return db->scan(people, storage::KeyRange::all(), [&](auto id, auto) -> Result<bool> {
        RAMPART_RETURN_IF_ERROR(visit(domain::PersonId(std::string(id)), std::nullopt));
        return true;
    });
}

}  // namespace rampart::protected_attributes
