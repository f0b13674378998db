#include "services/rampartd/declaration.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "rampart/base/limits.hpp"
#include "rampart/base/log.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/dataset/schema_changes.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {
namespace {

/// Returns the first characters of a text, as many as have at most so many bytes.
std::string shortened(std::string_view text, size_t bytes) {
    std::string_view kept = text.substr(0, bytes);
    while (!base::is_utf8(kept)) kept.remove_suffix(1);
    return std::string(kept);
}

using base::Result;
using dataset::ServedSchema;

constexpr std::string_view kActor = "rampartd";
constexpr base::Logger kLog("rampartd");
constexpr size_t kNamedChanges = 24;  // in an audit entry, which has at most 32 details

constexpr std::string_view kFeatures = "\n# features\n";  // behind the facts

/// What a store is bound to beside the features, by key.
using Facts = std::map<std::string, std::string>;

struct Stored {
    Facts facts;
    ServedSchema features;
};

/// Returns the lines "key = value" of the facts.
std::string lines_of(const Facts& facts) {
    std::string out;
    for (const auto& [key, value] : facts)
        out += base::log_escaped(fmt::format("{} = {}", key, value)) + '\n';
    return out;
}

Facts parse_lines(std::string_view lines) {
    Facts out;
    while (!lines.empty()) {
        const auto line = lines.substr(0, lines.find('\n'));
        lines.remove_prefix(std::min(lines.size(), line.size() + 1));
        const auto at = line.find(" = ");
        if (at != std::string_view::npos) out.emplace(line.substr(0, at), line.substr(at + 3));
    }
    return out;
}

Result<Stored> parse(std::string_view text) {
    const auto at = std::min(text.find(kFeatures), text.size());
    RAMPART_TRY(auto features, dataset::parse_features(text.substr(at), "stored declaration"));
    return Stored{parse_lines(text.substr(0, at)), std::move(features)};
}

void add_measure(const std::string& key, const domain::Measure& measure, Facts& facts) {
    constexpr int64_t kDay = base::Duration::days(1).micros();
    facts[key + ".name"] = measure.name;
    facts[key + ".range"] = fmt::format("{} to {}", measure.lo, measure.hi);
    facts[key + ".horizon_months"] = fmt::format("{}", measure.horizon_months);
    facts[key + ".grace_days"] = fmt::format("{}", measure.grace.micros() / kDay);
}

/// A bootstrap's feature is named by its position, which stays where it is renamed.
Facts facts_of(const Settings& settings) {
    const auto& product = settings.product;
    const auto& catalog = settings.catalog;
    const auto& bootstrap = settings.bootstrap;
    Facts facts{{"name", product.name}};
    add_measure("label", product.label, facts);
    for (const auto& measure : product.measures)
        add_measure("measure." + measure.name, measure, facts);
    const auto& impact = product.impact;
    facts["impact.units"] = impact.units;
    facts["impact.range"] = fmt::format("{} to {}", impact.lo, impact.hi);
    facts["impact.declined"] = fmt::format("{}", impact.declined);
    facts["impact.favourable"] =
        impact.measure ? "by measure" : fmt::format("{}", impact.favourable);
    facts["impact.unfavourable"] =
        impact.measure ? "by measure" : fmt::format("{}", impact.unfavourable);
    facts["impact.measure"] = impact.measure.value_or("none");
    for (const auto& attribute : catalog.attributes())
        facts["attribute." + attribute.name] = fmt::format("{}", fmt::join(attribute.values, ", "));
    facts["groups"] = fmt::format("{}", fmt::join(catalog.groups(), "; "));
    std::string points;
    for (const auto& [x, p] : bootstrap.points)
        points += fmt::format("{}({}, {})", points.empty() ? "" : " ", x, p);
    facts["bootstrap.points"] = points;
    facts["bootstrap.missing"] = fmt::format("{}", bootstrap.missing);
    const auto feature = settings.schema.find(bootstrap.feature);
    facts["bootstrap.feature"] = feature ? fmt::format("number {}", *feature + 1) : "none";
    return facts;
}

base::Status compare(const Facts& before, const Facts& now) {
    Facts all = before;
    all.insert(now.begin(), now.end());
    const auto value_in = [](const Facts& facts, const std::string& key) {
        const auto it = facts.find(key);
        return it == facts.end() ? "not there" : fmt::format("'{}'", it->second);
    };
    for (const auto& [key, ignored] : all) {
        const auto was = value_in(before, key), is = value_in(now, key);
        if (was == is) continue;
        return base::make_error(
            Reason::kProductNotCarried,
            "{} of the product was {}, and is {}: what was decided, joined and certified in this "
            "store counts by the former; put it back, or begin a new store with the new product",
            key, was, is);
    }
    return base::ok();
}

}  // namespace

Result<Declaration> declaration_of(const registry::ModelRegistry& registry,
                                   const Settings& settings) {
    const auto lines = lines_of(facts_of(settings));
    Declaration out{
        fmt::format("{}{}{}", lines, kFeatures, dataset::write_features(settings.schema))};
    RAMPART_TRY(const auto stored, registry.recorded_declaration());
    out.first = !stored.has_value();
    if (stored) {
        RAMPART_TRY(const auto before, parse(*stored));
        RAMPART_TRY(out.changes, dataset::carry_schema(before.features, settings.schema));
        RAMPART_RETURN_IF_ERROR(compare(before.facts, parse_lines(lines)));
        out.before = dataset::write_features(before.features);
    } else if (const auto champion = registry.champion()) {
        RAMPART_TRY(const auto loaded, registry.load_model(champion->policy));
        auto changes = dataset::carry_schema(loaded.policy.schema(), settings.schema);
        // a policy does not have the earlier names that its file had, too
        const bool same = loaded.policy.schema().digest() == settings.schema.features().digest();
        if (!changes && !same) return changes.error();
        if (changes) out.changes = *std::move(changes);
    }
    return out;
}

base::Status record(registry::ModelRegistry& registry, const Declaration& declaration,
                    const Settings& settings, base::TimePoint now) {
    if (declaration.on_record()) return base::ok();
    std::map<std::string, std::string> details{
        {"feature_schema", settings.schema.features().digest().hex()}};
    const auto& changes = declaration.changes;
    for (size_t i = 0; i < changes.size(); ++i) {
        kLog.warning("msg=\"the schema has changed\" change=\"{}\"", changes[i]);
        if (i < kNamedChanges)
            details[fmt::format("change_{:02}", i + 1)] =
                shortened(changes[i], base::limits::kMaxTextBytes);
    }
    if (changes.size() > kNamedChanges)
        details["more_changes"] = fmt::format("{}", changes.size() - kNamedChanges);
    return registry.record_declaration(declaration.text, std::move(details), now, kActor);
}

}  // namespace rampart::rampartd
