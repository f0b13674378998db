#include "rampart/constraints/membership.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "rampart/base/reasons.hpp"
#include "rampart/constraints/reasons.hpp"
#include "rampart/ope/reasons.hpp"

namespace rampart::constraints {
namespace {

using base::make_error;
using base::Result;
using Mask = std::vector<uint8_t>;

constexpr uint8_t kAlwaysMember = kMemberIfUnfavourable | kMemberIfFavourable;
constexpr size_t kListed = 12;  // names that an error lists

template <class Items, class Name>
std::string listed(const Items& items, const Name& name) {
    std::string out;
    size_t count = 0;
    for (const auto& item : items) {
        if (++count > kListed) return out + ", …";
        if (!out.empty()) out += ", ";
        out += name(item);
    }
    return out.empty() ? "none" : out;
}

void collect(const Condition& condition, std::set<std::string>& names) {
    if (condition.kind == Condition::Kind::kNumber ||
        condition.kind == Condition::Kind::kCategory) {
        names.insert(condition.name);
    }
    for (const Condition& part : condition.parts) collect(part, names);
}

/// Returns whether a group has the form "attribute=value" and is no intersection.
bool is_value_of(const std::string& group, const std::string& attribute) {
    return group.size() > attribute.size() && group.starts_with(attribute) &&
           group[attribute.size()] == '=' && group.find(',') == std::string::npos;
}

class Evaluator {
  public:
    explicit Evaluator(const People& people) : people_(people) {}

    Result<Mask> of(const Condition& c) const {
        using Kind = Condition::Kind;
        switch (c.kind) {
            case Kind::kAlways:
                return Mask(people_.records, kAlwaysMember);
            case Kind::kLabel:
                return Mask(people_.records,
                            c.number == 1 ? kMemberIfFavourable : kMemberIfUnfavourable);
            case Kind::kNot: {
                RAMPART_TRY(Mask mask, of(c.parts.front()));
                for (uint8_t& m : mask) m = static_cast<uint8_t>(m ^ kAlwaysMember);
                return mask;
            }
            case Kind::kAll:
            case Kind::kAny:
                return joined(c);
            case Kind::kGroup:
                return group(c);
            case Kind::kNumber:
                return number(c);
            case Kind::kCategory:
                return category(c);
        }
        return Mask(people_.records, 0);
    }

  private:
    Result<Mask> joined(const Condition& c) const {
        RAMPART_TRY(Mask out, of(c.parts.front()));
        for (size_t i = 1; i < c.parts.size(); ++i) {
            RAMPART_TRY(const Mask mask, of(c.parts[i]));
            for (size_t r = 0; r < out.size(); ++r) {
                out[r] = c.kind == Condition::Kind::kAll ? out[r] & mask[r] : out[r] | mask[r];
            }
        }
        return out;
    }

    void add(const GroupMembers& group, Mask& mask) const {
        for (const uint32_t i : group.records) mask[i] = kAlwaysMember;
    }

    Result<Mask> group(const Condition& c) const {
        Mask mask(people_.records, 0);
        for (const std::string& name : c.values) {
            const auto found =
                std::find_if(people_.groups.begin(), people_.groups.end(),
                             [&](const GroupMembers& group) { return group.name == name; });
            if (found == people_.groups.end()) {
                return make_error(
                    base::Reason::kUnknownGroup,
                    "there is no protected group \"{}\"; the groups are: {}", name,
                    listed(people_.groups, [](const GroupMembers& group) { return group.name; }));
            }
            add(*found, mask);
        }
        if (c.relation == Relation::kNotEqual) {
            for (uint8_t& m : mask) m = static_cast<uint8_t>(m ^ kAlwaysMember);
        }
        return mask;
    }

    const Column* column(const std::string& name) const {
        const auto found = std::find_if(people_.columns.begin(), people_.columns.end(),
                                        [&](const Column& c) { return c.name == name; });
        return found == people_.columns.end() ? nullptr : &*found;
    }

    bool is_attribute(const std::string& name) const {
        return std::any_of(people_.groups.begin(), people_.groups.end(),
                           [&](const GroupMembers& g) { return is_value_of(g.name, name); });
    }

    Result<const Column*> feature(const Condition& c) const {
        const Column* found = column(c.name);
        if (found == nullptr) {
            return make_error(
                base::Reason::kUnknownFeature,
                "there is no feature and no protected attribute '{}'; features: {}; groups: {}",
                c.name, listed(people_.columns, [](const Column& x) { return x.name; }),
                listed(people_.groups, [](const GroupMembers& x) { return x.name; }));
        }
        return found;
    }

    Result<Mask> number(const Condition& c) const {
        if (column(c.name) == nullptr && is_attribute(c.name)) {
            return make_error(Reason::kFeatureKind,
                              "'{}' is a protected attribute: compare it with a value in "
                              "quotes, {} = \"{}\"",
                              c.name, c.name, c.number);
        }
        RAMPART_TRY(const Column* feature, this->feature(c));
        if (!feature->categories.empty()) {
            return make_error(Reason::kFeatureKind,
                              "'{}' has categories: compare it with a value in quotes, "
                              "{} = \"{}\"",
                              c.name, c.name, c.number);
        }
        const auto bound = static_cast<float>(c.number);
        Mask mask(people_.records, 0);
        for (size_t i = 0; i < mask.size(); ++i) {
            if (holds(feature->values[i], c.relation, bound)) mask[i] = kAlwaysMember;
        }
        return mask;
    }

    static bool holds(float value, Relation relation, float bound) {
        if (std::isnan(value)) return false;
        switch (relation) {
            case Relation::kEqual:
                return value == bound;
            case Relation::kNotEqual:
                return value != bound;
            case Relation::kLess:
                return value < bound;
            case Relation::kAtMost:
                return value <= bound;
            case Relation::kGreater:
                return value > bound;
            case Relation::kAtLeast:
                return value >= bound;
            case Relation::kIn:
                break;
        }
        return false;
    }

    /// Returns whether the value is one of the condition's or, with !=, another one. A missing
    /// value is neither.
    Result<Mask> category(const Condition& c) const {
        const Column* found = column(c.name);
        const bool attribute = is_attribute(c.name);
        if (found != nullptr && attribute) {
            return make_error(Reason::kAmbiguousName,
                              "'{}' is a feature and a protected attribute; of the attribute "
                              "write group = \"{}={}\"",
                              c.name, c.name, c.values.front());
        }
        if (attribute) return attribute_value(c);
        RAMPART_TRY(const Column* feature, this->feature(c));
        if (feature->categories.empty()) {
            return make_error(Reason::kFeatureKind,
                              "'{}' is a number: compare it with one, without quotes", c.name);
        }
        std::vector<uint8_t> wanted(feature->categories.size(), 0);
        for (const std::string& value : c.values) {
            const auto at =
                std::find(feature->categories.begin(), feature->categories.end(), value);
            if (at == feature->categories.end())
                return unknown_value(c, value, feature->categories);
            wanted[static_cast<size_t>(at - feature->categories.begin())] = 1;
        }
        const uint8_t good = c.relation == Relation::kNotEqual ? 0 : 1;
        Mask mask(people_.records, 0);
        for (size_t i = 0; i < mask.size(); ++i) {
            const float value = feature->values[i];
            const bool known = value >= 0 && value < static_cast<float>(wanted.size());
            if (known && wanted[static_cast<size_t>(value)] == good) mask[i] = kAlwaysMember;
        }
        return mask;
    }

    static base::Error unknown_value(const Condition& c, const std::string& value,
                                     const std::vector<std::string>& values) {
        return make_error(base::Reason::kUnknownCategory,
                          "'{}' has no value \"{}\"; its values are: {}", c.name, value,
                          listed(values, [](const std::string& x) { return x; }));
    }

    Result<Mask> attribute_value(const Condition& c) const {
        Mask mask(people_.records, 0);
        std::vector<std::string> values;
        for (const GroupMembers& group : people_.groups) {
            if (!is_value_of(group.name, c.name)) continue;
            values.push_back(group.name.substr(c.name.size() + 1));
            const bool named =
                std::find(c.values.begin(), c.values.end(), values.back()) != c.values.end();
            if (named != (c.relation == Relation::kNotEqual)) add(group, mask);
        }
        for (const std::string& value : c.values) {
            if (std::find(values.begin(), values.end(), value) == values.end()) {
                return unknown_value(c, value, values);
            }
        }
        return mask;
    }

    const People& people_;
};

base::Status check_shapes(const People& people) {
    for (const Column& column : people.columns) {
        if (column.values.size() == people.records) continue;
        return make_error(ope::Reason::kBadShape, "feature {} has {} values for {} records",
                          column.name, column.values.size(), people.records);
    }
    for (const GroupMembers& group : people.groups) {
        if (group.records.empty() || group.records.back() < people.records) continue;
        return make_error(ope::Reason::kBadShape, "group {} has record {} of {}", group.name,
                          group.records.back(), people.records);
    }
    return base::ok();
}

}  // namespace

std::vector<std::string> names_in(const Condition& condition) {
    std::set<std::string> names;
    collect(condition, names);
    return {names.begin(), names.end()};
}

Result<std::vector<uint8_t>> members(const Condition& condition, const People& people) {
    RAMPART_RETURN_IF_ERROR(check_shapes(people));
    return Evaluator(people).of(condition);
}

}  // namespace rampart::constraints
