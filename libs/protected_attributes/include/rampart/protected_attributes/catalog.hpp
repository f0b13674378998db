#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/protected_attributes/record.hpp"

namespace rampart::protected_attributes {

/// A protected attribute and the values that it may take, as the configuration declares them.
struct Attribute {
    std::string name;
    std::vector<std::string> values;
    bool operator==(const Attribute&) const = default;
};

/// Where one person stands.
struct Membership {
    std::optional<uint32_t> cell;  // index into cells(); nullopt: an attribute is not known
    std::vector<uint32_t> groups;  // indices into groups(), increasing; a person is in several
    bool operator==(const Membership&) const = default;
};

/// The fixed list of protected groups of a deployment. Immutable, thread safe.
///
/// Groups: one per value of each attribute, "sex=female", in the order declared; then, if asked for
/// and there is more than one attribute, one per cell, "sex=female,age=under_30". Cells are the
/// combinations of a value of every attribute, the last attribute running fastest; they part the
/// people whose attributes are all known.
class AttributeCatalog {
  public:
    /// Names and values: 1 to limits::kMaxNameBytes printable characters without ',' or '='. At
    /// least one attribute, each with at least two values, nothing twice, at most
    /// limits::kMaxGroups groups and as many cells.
    static base::Result<AttributeCatalog> create(std::vector<Attribute> attributes,
                                                 bool intersections);

    const std::vector<Attribute>& attributes() const { return attributes_; }
    bool intersections() const { return intersections_; }
    const std::vector<std::string>& groups() const { return groups_; }
    const std::vector<std::string>& cells() const { return cells_; }

    /// Every attribute and value is declared here. invalid_argument "unknown_attribute" or
    /// "unknown_attribute_value" (the message lists what is declared; it never repeats the person's
    /// value).
    base::Status check(const ProtectedAttributes& person) const;

    /// Same errors as check(). Attributes that the person lacks put them in fewer groups and in no
    /// cell.
    base::Result<Membership> membership(const ProtectedAttributes& person) const;

  private:
    AttributeCatalog() = default;
    std::vector<Attribute> attributes_;
    bool intersections_ = false;
    std::vector<std::string> groups_, cells_;
};

}  // namespace rampart::protected_attributes
