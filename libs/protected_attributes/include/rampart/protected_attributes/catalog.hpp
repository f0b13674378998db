#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/protected_attributes/record.hpp"

namespace rampart::protected_attributes {

/// A protected attribute and its possible values, as declared in the configuration.
struct Attribute {
    std::string name;
    std::vector<std::string> values;
    bool operator==(const Attribute&) const = default;
};

/// Groups and cell of one person.
struct Membership {
    std::optional<uint32_t> cell;  // index into cells(); nullopt: an attribute is missing
    std::vector<uint32_t> groups;  // indices into groups(), increasing; a person may be in several
    bool operator==(const Membership&) const = default;
};

/// The fixed list of protected groups of a deployment. Immutable, thread safe.
///
/// Groups: one per value of each attribute, "sex=female", in declared order; then, if requested and
/// there is more than one attribute, one per cell, "sex=female,age=under_30". Cells are the
/// combinations of one value per attribute, the last attribute varying fastest; they partition the
/// people whose attributes are all known.
class AttributeCatalog {
  public:
    /// Requires names and values of 1 to limits::kMaxNameBytes printable characters without ',' or
    /// '=', at least one attribute, at least two values for each, no duplicates, at most
    /// limits::kMaxGroups groups and as many cells.
    static base::Result<AttributeCatalog> create(std::vector<Attribute> attributes,
                                                 bool intersections);

    const std::vector<Attribute>& attributes() const { return attributes_; }
    bool intersections() const { return intersections_; }
    const std::vector<std::string>& groups() const { return groups_; }
    const std::vector<std::string>& cells() const { return cells_; }

    /// Checks that every attribute and value is declared. Fails with invalid_argument
    /// "unknown_attribute" or "unknown_attribute_value" (the message lists the declared ones and
    /// never contains the person's value).
    base::Status check(const ProtectedAttributes& person) const;

    /// Returns the person's groups and cell. Fails as check(). A person who lacks an attribute is
    /// in fewer groups and in no cell.
    base::Result<Membership> membership(const ProtectedAttributes& person) const;

  private:
    AttributeCatalog() = default;
    std::vector<Attribute> attributes_;
    bool intersections_ = false;
    std::vector<std::string> groups_, cells_;
};

}  // namespace rampart::protected_attributes
