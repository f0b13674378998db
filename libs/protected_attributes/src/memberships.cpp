#include "memberships.hpp"

#include <optional>

#include "rampart/base/bytes.hpp"
#include "rampart/protected_attributes/codec.hpp"

namespace rampart::protected_attributes {
namespace {

using base::Result;
using base::Status;

constexpr size_t kMostMissed = 16;        // keys of others that are read rather than jumped over
constexpr size_t kTimeBytes = 8;          // behind person and zero byte in the history
constexpr size_t kMostAttributes = 4096;  // different ones that are remembered

/// Returns the attributes of a record as encode() wrote them: what follows person (field 1) and
/// event time (field 2). nullopt: it is not laid out so.
std::optional<std::string_view> attributes_of(std::string_view person, std::string_view record) {
    constexpr char kPerson = 0x0a, kTime = 0x10, kAttribute = 0x1a;
    if (person.size() > 127 || record.size() < 2 + person.size() || record[0] != kPerson ||
        record[1] != static_cast<char>(person.size()) || record.substr(2, person.size()) != person)
        return std::nullopt;
    record.remove_prefix(2 + person.size());
    if (!record.empty() && record[0] == kTime) {
        size_t end = 1;
        while (end < record.size() && (record[end] & 0x80) != 0) ++end;
        if (end >= record.size() || end > 10) return std::nullopt;
        record.remove_prefix(end + 1);
    }
    if (!record.empty() && record[0] != kAttribute) return std::nullopt;
    return record;
}

}  // namespace

Result<Memberships::Found> Memberships::find(std::span<const std::string_view> persons,
                                             storage::ColumnFamily people,
                                             storage::ColumnFamily history) {
    if (by_attributes_.size() > kMostAttributes) by_attributes_.clear();
    Found found;
    found.now.resize(persons.size());
    const auto take_person = [&](size_t i, std::string_view, std::string_view record) -> Status {
        RAMPART_TRY(found.now[i], membership_of(persons[i], record));
        return base::ok();
    };
    RAMPART_RETURN_IF_ERROR(scan(people, 0, persons, take_person));
    const auto take_version = [&](size_t i, std::string_view key,
                                  std::string_view record) -> Status {
        RAMPART_TRY(const int64_t micros,
                    base::ByteReader(key.substr(key.size() - kTimeBytes)).i64());
        RAMPART_TRY(const auto* membership, membership_of(persons[i], record));
        found.versions.push_back({i, base::TimePoint::from_micros(micros), membership});
        return base::ok();
    };
    RAMPART_RETURN_IF_ERROR(scan(history, kTimeBytes + 1, persons, take_version));
    return found;
}

/// Calls `take` with the entries of these persons, in order. Keys are a person and `suffix` more
/// bytes.
Status Memberships::scan(storage::ColumnFamily family, size_t suffix,
                         std::span<const std::string_view> persons, const Take& take) const {
    const std::string end = persons.empty() ? "" : std::string(persons.back()) + '\1';
    size_t i = 0;
    bool jump = true;
    while (jump && i < persons.size()) {
        jump = false;
        size_t missed = 0;
        const auto visit = [&](std::string_view key, std::string_view value) -> Result<bool> {
            if (key.size() <= suffix) return true;  // ProtectedStore::check says so
            const auto person = key.substr(0, key.size() - suffix);
            while (i < persons.size() && persons[i] < person) ++i;
            if (i == persons.size()) return false;
            if (persons[i] == person) {
                missed = 0;
                RAMPART_RETURN_IF_ERROR(take(i, key, value));
                return true;
            }
            jump = ++missed > kMostMissed;
            return !jump;
        };
        RAMPART_RETURN_IF_ERROR(db_.scan(family, {std::string(persons[i]), end}, visit));
    }
    return base::ok();
}

Result<const Membership*> Memberships::membership_of(std::string_view person,
                                                     std::string_view record) {
    const auto attributes = attributes_of(person, record);
    if (attributes) {
        const auto found = by_attributes_.find(*attributes);
        if (found != by_attributes_.end()) return &found->second;
    }
    RAMPART_TRY(const auto decoded, decode(record));
    RAMPART_TRY(auto membership, catalog_.membership(decoded));
    const auto key = attributes ? std::string(*attributes) : "record " + std::string(record);
    return &by_attributes_.insert_or_assign(key, std::move(membership)).first->second;
}

}  // namespace rampart::protected_attributes
