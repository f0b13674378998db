#include "rampart/protected_attributes/catalog.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/protected_attributes/reasons.hpp"

namespace rampart::protected_attributes {
namespace {

namespace limits = base::limits;
using base::Result;

base::Status check_word(std::string_view what, std::string_view word) {
    const auto allowed = [](char c) { return c > ' ' && c < 127 && c != ',' && c != '='; };
    if (!word.empty() && word.size() <= limits::kMaxNameBytes &&
        std::all_of(word.begin(), word.end(), allowed)) {
        return base::ok();
    }
    return base::make_error(Reason::kBadAttribute,
                            "{} '{}' must have 1 to {} printable ASCII characters, no "
                            "space, ',' or '='",
                            what, word.substr(0, limits::kMaxNameBytes), limits::kMaxNameBytes);
}

base::Status check_attribute(const Attribute& attribute) {
    RAMPART_RETURN_IF_ERROR(check_word("attribute", attribute.name));
    if (attribute.values.size() < 2) {
        return base::make_error(Reason::kBadAttribute,
                                "attribute '{}' has {} values; it needs "
                                "two or more",
                                attribute.name, attribute.values.size());
    }
    std::set<std::string_view> seen;
    for (const auto& value : attribute.values) {
        RAMPART_RETURN_IF_ERROR(check_word("value", value));
        if (!seen.insert(value).second) {
            return base::make_error(Reason::kDuplicateAttributeValue,
                                    "attribute '{}' has value '{}' twice", attribute.name, value);
        }
    }
    return base::ok();
}

base::Status check_limits(const std::vector<Attribute>& attributes, bool intersections) {
    if (attributes.empty()) {
        return base::make_error(Reason::kNoAttributes,
                                "no protected attribute is declared; name at least one");
    }
    std::set<std::string_view> seen;
    size_t groups = 0, cells = 1;
    for (const auto& attribute : attributes) {
        RAMPART_RETURN_IF_ERROR(check_attribute(attribute));
        if (!seen.insert(attribute.name).second) {
            return base::make_error(Reason::kDuplicateAttribute, "attribute '{}' is declared twice",
                                    attribute.name);
        }
        groups += attribute.values.size();
        if (cells <= limits::kMaxGroups) cells *= attribute.values.size();
    }
    if (intersections && attributes.size() > 1) groups += cells;
    if (groups > limits::kMaxGroups || cells > limits::kMaxGroups) {
        return base::make_error(base::Reason::kTooManyGroups,
                                "the attributes make {} or more groups and cells; at most {} "
                                "of each are allowed; declare fewer values",
                                std::max(groups, cells), limits::kMaxGroups);
    }
    return base::ok();
}

}  // namespace

Result<AttributeCatalog> AttributeCatalog::create(std::vector<Attribute> attributes,
                                                  bool intersections) {
    RAMPART_RETURN_IF_ERROR(check_limits(attributes, intersections));
    AttributeCatalog catalog;
    catalog.cells_ = {""};
    for (const auto& [name, values] : attributes) {
        std::vector<std::string> longer;
        for (const auto& cell : catalog.cells_) {
            for (const auto& value : values) {
                longer.push_back(
                    fmt::format("{}{}{}={}", cell, cell.empty() ? "" : ",", name, value));
            }
        }
        catalog.cells_ = std::move(longer);
        for (const auto& value : values)
            catalog.groups_.push_back(fmt::format("{}={}", name, value));
    }
    catalog.intersections_ = intersections && attributes.size() > 1;
    if (catalog.intersections_) {
        catalog.groups_.insert(catalog.groups_.end(), catalog.cells_.begin(), catalog.cells_.end());
    }
    catalog.attributes_ = std::move(attributes);
    return catalog;
}

base::Status AttributeCatalog::check(const ProtectedAttributes& person) const {
    for (const auto& [name, value] : person.attributes) {
        const auto attribute =
            std::find_if(attributes_.begin(), attributes_.end(),
                         [&name = name](const Attribute& a) { return a.name == name; });
        if (attribute == attributes_.end()) {
            std::vector<std::string> declared;
            for (const auto& a : attributes_) declared.push_back(a.name);
            return base::make_error(base::Reason::kUnknownAttribute,
                                    "attribute '{}' is not declared; declared: {}", name,
                                    fmt::join(declared, ", "));
        }
        const auto& values = attribute->values;
        if (std::find(values.begin(), values.end(), value) == values.end()) {
            return base::make_error(Reason::kUnknownAttributeValue,
                                    "attribute '{}' has a value that is not "
                                    "declared; declared: {}",
                                    name, fmt::join(values, ", "));
        }
    }
    return base::ok();
}

Result<Membership> AttributeCatalog::membership(const ProtectedAttributes& person) const {
    RAMPART_RETURN_IF_ERROR(check(person));
    Membership membership;
    uint32_t first_group = 0, cell = 0;
    bool complete = true;
    for (const auto& [name, values] : attributes_) {
        if (const auto it = person.attributes.find(name); it != person.attributes.end()) {
            const auto code = static_cast<uint32_t>(
                std::find(values.begin(), values.end(), it->second) - values.begin());
            membership.groups.push_back(first_group + code);
            cell = cell * static_cast<uint32_t>(values.size()) + code;
        } else {
            complete = false;
        }
        first_group += static_cast<uint32_t>(values.size());
    }
    if (!complete) return membership;
    membership.cell = cell;
    if (intersections_) membership.groups.push_back(first_group + cell);
    return membership;
}

}  // namespace rampart::protected_attributes
