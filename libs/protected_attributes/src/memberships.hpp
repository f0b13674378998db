#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/protected_attributes/catalog.hpp"
#include "rampart/storage/database.hpp"

namespace rampart::protected_attributes {

/// Reads memberships of many persons in the order of the store. Persons have few different ones, so
/// that a record is decoded once for all that have the same attributes.
class Memberships {
  public:
    static constexpr size_t kPersonsAtOnce = 4096;

    Memberships(const storage::Database& db, const AttributeCatalog& catalog)
        : db_(db), catalog_(catalog) {}

    struct Version {
        size_t person;  // position among those asked for
        base::TimePoint from;
        const Membership* membership;
    };
    struct Found {
        std::vector<const Membership*> now;  // one for each person; null: unknown
        std::vector<Version> versions;       // by person, then time
    };
    /// `persons`: ascending, each once. `people` and `history`: the store's column families.
    base::Result<Found> find(std::span<const std::string_view> persons,
                             storage::ColumnFamily people, storage::ColumnFamily history);

  private:
    using Take =
        std::function<base::Status(size_t person, std::string_view key, std::string_view value)>;
    base::Status scan(storage::ColumnFamily family, size_t suffix,
                      std::span<const std::string_view> persons, const Take& take) const;
    base::Result<const Membership*> membership_of(std::string_view person, std::string_view record);

    const storage::Database& db_;
    const AttributeCatalog& catalog_;
    std::map<std::string, Membership, std::less<>> by_attributes_;
};

}  // namespace rampart::protected_attributes
