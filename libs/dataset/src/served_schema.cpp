#include "rampart/dataset/served_schema.hpp"

#include <algorithm>
#include <limits>

#include "rampart/base/file.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/dataset/reasons.hpp"
#include "schema_file.hpp"

namespace rampart::dataset {
namespace {

using base::Result;
using base::Status;

template <class... Args>
base::Error bad(const FeatureSpec& spec, fmt::format_string<Args...> format, Args&&... args) {
    return base::make_error(Reason::kBadFeatureTerms, "feature '{}' {}", spec.name,
                            fmt::format(format, std::forward<Args>(args)...));
}

/// Checks that the value can be encoded, and is no category that the feature does not have.
Status check_absent(const FeatureSchema& features, size_t feature, const FeatureValue& value) {
    const auto& spec = features.features()[feature];
    const bool numeric = spec.kind == FeatureKind::kNumeric;
    if (std::holds_alternative<std::monostate>(value)) return base::ok();
    if (const auto* number = std::get_if<double>(&value)) {
        if (numeric && features.encode_number(feature, *number)) return base::ok();
        return bad(spec, "has the default {}; give {}", *number,
                   numeric ? "a number that a float can hold" : "one of its categories");
    }
    const auto& text = std::get<std::string>(value);
    const bool known =
        std::find(spec.categories.begin(), spec.categories.end(), text) != spec.categories.end();
    if (!numeric && known) return base::ok();
    return bad(spec, "has the default '{}'; give {}, or optional = true", text,
               numeric ? "a number" : "one of its categories");
}

Status check_terms(const FeatureSchema& features, size_t i, const FeatureTerms& terms) {
    const auto& spec = features.features()[i];
    if (terms.absent) RAMPART_RETURN_IF_ERROR(check_absent(features, i, *terms.absent));
    if (terms.retired && !terms.absent) {
        return bad(spec,
                   "is retired without a default; policies of before still read it: say what an "
                   "application without it counts as (default, or optional = true)");
    }
    const bool ends = terms.retired || !terms.was.empty();
    if (ends && !terms.accepted_until) {
        return bad(spec, "{}; say with accepted_until how long producers may still send {}",
                   terms.retired ? "is retired" : "was renamed",
                   terms.retired ? "it" : "the earlier name");
    }
    if (!ends && terms.accepted_until)
        return bad(spec, "has accepted_until, and is neither retired nor renamed; leave it out");
    for (const auto& name : terms.was) {
        if (name.empty() || name.size() > base::limits::kMaxNameBytes || !base::is_utf8(name))
            return bad(spec, "has an earlier name of {} bytes; allowed are 1 to {} of UTF-8",
                       name.size(), base::limits::kMaxNameBytes);
    }
    return base::ok();
}

std::string terms_lines(const FeatureTerms& terms) {
    std::string out;
    if (terms.absent) {
        if (std::holds_alternative<std::monostate>(*terms.absent)) out += "optional = true\n";
        if (const auto* number = std::get_if<double>(&*terms.absent))
            out += fmt::format("default = {}\n", toml_number(*number));
        if (const auto* text = std::get_if<std::string>(&*terms.absent))
            out += fmt::format("default = {}\n", toml_quote(*text));
    }
    if (!terms.was.empty()) out += fmt::format("was = {}\n", toml_list(terms.was));
    if (terms.retired) out += "retired = true\n";
    if (terms.accepted_until)
        out += fmt::format("accepted_until = {}\n",
                           toml_quote(base::to_iso8601(*terms.accepted_until)));
    return out;
}

}  // namespace

ServedSchema::ServedSchema(FeatureSchema features)
    : features_(std::move(features)), terms_(features_.size()) {}

Result<ServedSchema> ServedSchema::create(FeatureSchema features, std::vector<FeatureTerms> terms) {
    if (terms.size() != features.size()) {
        return base::make_error(Reason::kBadFeatureTerms, "terms of {} features for {}",
                                terms.size(), features.size());
    }
    ServedSchema out(std::move(features));
    for (size_t i = 0; i < terms.size(); ++i) {
        const auto& spec = out.features_.features()[i];
        RAMPART_RETURN_IF_ERROR(check_terms(out.features_, i, terms[i]));
        for (const auto& name : terms[i].was) {
            if (const auto other = out.features_.find(name)) {
                return bad(spec,
                           "was called '{}', and feature {} is called so now; each name is "
                           "of one feature for ever",
                           name, *other + 1);
            }
            if (!out.earlier_.emplace(name, i).second)
                return bad(spec, "has the earlier name '{}', which is listed twice", name);
        }
        out.plain_ = out.plain_ && !terms[i].absent && terms[i].was.empty() && !terms[i].retired;
    }
    out.terms_ = std::move(terms);
    return out;
}

float ServedSchema::encoded_absent(size_t feature) const {
    constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
    const auto& absent = terms_[feature].absent;
    if (!absent) return kMissing;
    if (const auto* number = std::get_if<double>(&*absent))
        return features_.encode_number(feature, *number).value();
    const auto* text = std::get_if<std::string>(&*absent);
    return text == nullptr ? kMissing : features_.encode_text(feature, *text).value();
}

std::optional<size_t> ServedSchema::find(std::string_view name) const {
    if (const auto now = features_.find(name)) return now;
    const auto earlier = earlier_.find(name);
    return earlier == earlier_.end() ? std::nullopt : std::optional(earlier->second);
}

bool ServedSchema::has_name(size_t feature, std::string_view name) const {
    const auto found = find(name);
    return found && *found == feature;
}

std::vector<bool> ServedSchema::retired() const {
    std::vector<bool> out;
    for (const auto& one : terms_) out.push_back(one.retired);
    if (std::find(out.begin(), out.end(), true) == out.end()) out.clear();
    return out;
}

Result<FeatureSchema> ServedSchema::all_names() const {
    auto specs = features_.features();
    for (const auto& [name, feature] : earlier_) {
        specs.push_back(features_.features()[feature]);
        specs.back().name = name;
    }
    return FeatureSchema::create(std::move(specs));
}

Status ServedSchema::check_grown_from(const FeatureSchema& earlier) const {
    for (size_t i = 0; i < earlier.size(); ++i) {
        const auto& was = earlier.features()[i];
        const auto why = [&](std::string_view what) {
            return base::make_error(Reason::kSchemaNotCarried,
                                    "feature {}, '{}', {} in the schema of this service; features "
                                    "of policies stay the first ones, in their order",
                                    i + 1, was.name, what);
        };
        if (i >= features_.size()) return why("is not");
        const auto& now = features_.features()[i];
        if (!has_name(i, was.name)) return why(fmt::format("is '{}'", now.name));
        if (now.kind != was.kind) return why("is of another kind");
        if (now.categories != was.categories) return why("has other categories");
    }
    return base::ok();
}

Status ServedSchema::check_accepted(std::string_view name, base::TimePoint now) const {
    const auto found = find(name);
    if (!found) return base::ok();
    const auto& terms = terms_[*found];
    if (!terms.accepted_until || now < *terms.accepted_until) return base::ok();
    const auto& spec = features_.features()[*found];
    const auto until = base::to_iso8601(*terms.accepted_until);
    if (terms.retired) {
        return base::make_error(Reason::kFeatureNotAccepted,
                                "feature '{}' is retired, and was accepted until {}; leave it out",
                                name, until);
    }
    if (name == spec.name) return base::ok();
    return base::make_error(Reason::kFeatureNotAccepted,
                            "feature '{}' is called '{}', and the earlier name was accepted until "
                            "{}; send '{}'",
                            name, spec.name, until, spec.name);
}

Result<ServedSchema> parse_served_schema(std::string_view text, std::string_view name) {
    std::vector<FeatureTerms> terms;
    RAMPART_TRY(auto schema, parse_schema_file(text, name, &terms));
    if (const auto served = check_for_applications(schema); !served)
        return served.error().with_context(name);
    auto out = ServedSchema::create(std::move(schema.features), std::move(terms));
    if (!out) return out.error().with_context(name);
    return out;
}

Result<ServedSchema> read_served_schema(const std::filesystem::path& path) {
    RAMPART_TRY(const auto text, base::read_file(path, kMaxSchemaBytes));
    return parse_served_schema(text, path.string());
}

std::string write_features(const ServedSchema& schema) {
    std::string out;
    for (size_t i = 0; i < schema.features().size(); ++i)
        out += feature_head(schema.features().features()[i]) + terms_lines(schema.terms(i)) + '\n';
    return out;
}

Result<ServedSchema> parse_features(std::string_view text, std::string_view name) {
    RAMPART_TRY(auto root, config::parse(text, name));
    TableSchema schema;
    std::vector<FeatureSpec> specs;
    std::vector<FeatureTerms> terms;
    parse_features(root, schema, specs, &terms);
    RAMPART_RETURN_IF_ERROR(root.finish());
    RAMPART_TRY(auto features, FeatureSchema::create(std::move(specs)));
    return ServedSchema::create(std::move(features), std::move(terms));
}

}  // namespace rampart::dataset
