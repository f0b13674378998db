#include "rampart/counterfactuals/changes.hpp"

#include <algorithm>
#include <cfloat>
#include <set>

#include "rampart/base/limits.hpp"
#include "rampart/counterfactuals/reasons.hpp"

namespace rampart::counterfactuals {
namespace {

namespace limits = base::limits;

constexpr double kLargest = FLT_MAX;  // what a row can hold
constexpr double kLeast = 1e-30;      // step, scale or distance
constexpr double kFarthest = 1e30;    // so that no sum of distances overflows

void check_name(config::Table& table, std::string_view key, const std::string& name) {
    if (name.empty() || name.size() > limits::kMaxNameBytes)
        table.fail(key, fmt::format("'{}' is no name of 1 to {} bytes", name.substr(0, 40),
                                    limits::kMaxNameBytes));
}

void read_number(config::Table& table, Change& change) {
    const auto direction = table.choice("direction", {"rise", "fall", "any"}, "any");
    change.direction = direction == "rise"   ? Direction::kRise
                       : direction == "fall" ? Direction::kFall
                                             : Direction::kAny;
    change.from = table.number("from", -kLargest, kLargest);
    change.to = table.number("to", -kLargest, kLargest);
    change.step = table.number("step", kLeast, kLargest);
    change.scale = table.number("scale", kLeast, kFarthest);
    if (!(change.from <= change.to))
        table.fail("to", fmt::format("is {}, below from, which is {}", change.to, change.from));
    if (!((change.to - change.from) / change.step <= kMaxSteps))
        table.fail("step",
                   fmt::format("is {}: more than {} steps lie between from and to; give a larger "
                               "step, or narrower bounds",
                               change.step, kMaxSteps));
}

Change read_change(config::Table table) {
    Change change;
    change.feature = table.string("feature");
    check_name(table, "feature", change.feature);
    if (!table.has("categories")) {
        read_number(table, change);
        return change;
    }
    change.categories = table.strings("categories");
    const std::set<std::string> distinct(change.categories.begin(), change.categories.end());
    if (change.categories.empty() || change.categories.size() > limits::kMaxCategories ||
        distinct.size() != change.categories.size())
        table.fail("categories",
                   fmt::format("give 1 to {} categories, each once", limits::kMaxCategories));
    change.distance = table.number("distance", kLeast, kFarthest, 1);
    return change;
}

bool contains(std::span<const std::string> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns whether two names differ only in capitals.
bool same(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return lower(x) == lower(y); });
}

/// Returns what is wrong with one change, for the features of a policy; empty: nothing.
std::string fault_of(const Change& change, const dataset::FeatureSchema& schema) {
    const auto index = schema.find(change.feature);
    if (!index) return "is not a feature of the decision's policy";
    const auto& spec = schema.features()[*index];
    const bool number = spec.kind == dataset::FeatureKind::kNumeric;
    if (number != change.categories.empty())
        return number ? "is a number: give from, to, step and scale, not categories"
                      : "is a category: give categories, not from, to, step and scale";
    for (const auto& category : change.categories)
        if (!contains(spec.categories, category))
            return fmt::format("has no category '{}'", category.substr(0, 40));
    return {};
}

}  // namespace

DeclaredChanges read_changes(config::Table root) {
    DeclaredChanges declared;
    declared.product = root.string("product");
    declared.immutable = root.strings("immutable");
    if (declared.immutable.size() > kMaxImmutable)
        root.fail("immutable", fmt::format("has {} names; at most {}", declared.immutable.size(),
                                           kMaxImmutable));
    for (const auto& name : declared.immutable) check_name(root, "immutable", name);
    declared.together =
        static_cast<size_t>(root.integer("together", 1, static_cast<int64_t>(kMaxTogether),
                                         static_cast<int64_t>(declared.together)));
    auto tables = root.tables("change");
    if (tables.empty() || tables.size() > kMaxChanges)
        root.fail("change", fmt::format("give 1 to {} changes, each as [[change]]; here are {}",
                                        kMaxChanges, tables.size()));
    for (auto& table : tables) declared.changes.push_back(read_change(table));
    return declared;
}

base::Result<DeclaredChanges> parse_changes(std::string_view text, std::string_view name) {
    RAMPART_TRY(auto root, config::parse(text, name));
    auto declared = read_changes(root);
    RAMPART_RETURN_IF_ERROR(root.finish());
    return declared;
}

base::Status check_changes(const DeclaredChanges& declared, std::string_view product,
                           const dataset::FeatureSchema& schema,
                           std::span<const std::string> protected_attributes) {
    if (declared.product != product)
        return base::make_error(Reason::kBadChanges,
                                "the changes are declared for product '{}', and the decision is of "
                                "'{}'",
                                declared.product, product);
    // a name that is mistyped would protect nothing
    for (const auto& name : declared.immutable)
        if (!schema.find(name) && !contains(protected_attributes, name))
            return base::make_error(Reason::kBadChanges,
                                    "immutable: '{}' is neither a feature of the decision's policy "
                                    "nor a protected attribute",
                                    name);
    std::set<std::string_view> seen;
    for (const auto& change : declared.changes) {
        std::string fault;
        if (!seen.insert(change.feature).second) {
            fault = "is there twice";
        } else if (std::any_of(protected_attributes.begin(), protected_attributes.end(),
                               [&](const auto& name) { return same(name, change.feature); })) {
            fault = "is a protected attribute, which is never changed";
        } else if (contains(declared.immutable, change.feature)) {
            fault = "is declared immutable";
        } else {
            fault = fault_of(change, schema);
        }
        if (!fault.empty())
            return base::make_error(Reason::kBadChanges, "change of '{}': the feature {}",
                                    change.feature, fault);
    }
    return base::ok();
}

}  // namespace rampart::counterfactuals
