#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/domain/ids.hpp"
#include "rampart/protected_attributes/catalog.hpp"
#include "rampart/protected_attributes/record.hpp"
#include "rampart/storage/memory_budget.hpp"

namespace rampart::protected_attributes {

/// Protected attributes by person, in a database of their own, apart from decisions. Thread safe.
class ProtectedStore {
  public:
    /// `memory` is the database's; null: some of its own.
    static base::Result<std::unique_ptr<ProtectedStore>> open(
        const std::filesystem::path& folder, AttributeCatalog catalog,
        std::shared_ptr<storage::MemoryBudget> memory = nullptr);
    ~ProtectedStore();

    /// Keeps the records, all or none, on the disk before it returns. Per person the latest event
    /// time wins, whatever the order of arrival; of two with the same event time the one whose
    /// encoding sorts last. Errors: validate()'s and AttributeCatalog::check()'s, then nothing is
    /// written.
    base::Status put(std::span<const ProtectedAttributes> people);

    /// Forgets the person: nothing of him is in any of the files when it returns. What is put about
    /// him later counts again. failed_precondition "snapshot_held".
    base::Status erase(const domain::PersonId& person);

    /// nullopt: nothing is known of the person.
    base::Result<std::optional<ProtectedAttributes>> get(const domain::PersonId& person) const;

    /// The catalog's memberships; of an unknown person: no cell, no groups.
    base::Result<Membership> membership(const domain::PersonId& person) const;

    const AttributeCatalog& catalog() const;

    /// Reads everything and says what does not fit: what cannot be read, or stands under another
    /// person. Names no person. Empty: all is well.
    base::Result<std::vector<std::string>> check() const;

  private:
    struct Impl;
    explicit ProtectedStore(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::protected_attributes
