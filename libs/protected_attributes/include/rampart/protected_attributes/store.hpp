#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/domain/ids.hpp"
#include "rampart/protected_attributes/catalog.hpp"
#include "rampart/protected_attributes/record.hpp"
#include "rampart/storage/memory_budget.hpp"

namespace rampart::protected_attributes {

/// Protected attributes by person, in a database separate from decisions. Thread safe.
class ProtectedStore {
  public:
    /// Opens the store. `memory` is the database's memory budget; null: its own.
    static base::Result<std::unique_ptr<ProtectedStore>> open(
        const std::filesystem::path& folder, AttributeCatalog catalog,
        std::shared_ptr<storage::MemoryBudget> memory = nullptr);
    ~ProtectedStore();

    /// Stores all records or none, durably, as known from `at` on (the node's clock). Per person
    /// the latest event time wins, whatever the order of arrival; of equal event times the record
    /// whose encoding sorts last. Fails as validate() and AttributeCatalog::check() do; then
    /// nothing is written.
    base::Status put(std::span<const ProtectedAttributes> people, base::TimePoint at);

    /// Erases the person: no data about the person is in any file when it returns. A later put() is
    /// stored as usual. Fails with failed_precondition "snapshot_held".
    base::Status erase(const domain::PersonId& person);

    /// Returns nullopt if the person is unknown.
    base::Result<std::optional<ProtectedAttributes>> get(const domain::PersonId& person) const;

    /// Returns the catalog's memberships; for an unknown person no cell and no groups.
    base::Result<Membership> membership(const domain::PersonId& person) const;

    /// Returns the memberships by the record that was in force at `t`; no cell and no groups for a
    /// person of whom nothing was known then, or only since a release that did not keep the time.
    base::Result<Membership> membership_at(const domain::PersonId& person, base::TimePoint t) const;

    /// A person at a time.
    struct PersonAt {
        std::string_view person;
        base::TimePoint at;
    };
    /// Called with a position in what was asked, and membership() and membership_at() of it.
    using MembershipVisitor =
        std::function<void(size_t asked, const Membership& now, const Membership& then)>;
    /// Visits all that are asked for, in the order of persons and times. Reads the store in that
    /// order, so that many cost a small part of as many calls of the two.
    base::Status visit_memberships(std::span<const PersonAt> asked,
                                   const MembershipVisitor& visit) const;

    const AttributeCatalog& catalog() const;

    /// Reads everything and returns the faults: unreadable records, records under another person's
    /// key. Names no person. Empty: no faults.
    base::Result<std::vector<std::string>> check() const;

  private:
    struct Impl;
    explicit ProtectedStore(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::protected_attributes
