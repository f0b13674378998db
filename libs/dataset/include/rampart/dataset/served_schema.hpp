#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"

namespace rampart::dataset {

/// A feature's value as producers send it: missing, a number, or a text.
using FeatureValue = std::variant<std::monostate, double, std::string>;

/// On what terms a service takes a feature.
struct FeatureTerms {
    /// What an application without the feature counts as; nullopt: it is refused.
    std::optional<FeatureValue> absent{};
    std::vector<std::string> was{};  // earlier names, the oldest first
    bool retired = false;            // nothing is learnt from it any more
    /// Producers may send a retired feature, or an earlier name, before this time of the service's
    /// clock. Given iff there is such a thing.
    std::optional<base::TimePoint> accepted_until{};
    bool operator==(const FeatureTerms&) const = default;
};

/// The features of a deployment, and on what terms its service takes each: the schema file of the
/// configuration. It grows at its end (schema_changes.hpp), so that the features of a policy that
/// was learnt earlier are the first ones here, perhaps by earlier names.
class ServedSchema {
  public:
    ServedSchema() = default;
    /// Every feature has to be given, by its name.
    ServedSchema(FeatureSchema features);  // NOLINT(google-explicit-constructor)
    /// `terms`: one for each feature. Errors: "bad_feature_terms" names the feature: an earlier
    /// name that is another feature's name, a default that does not fit the feature, a retired
    /// feature without a default, `accepted_until` without a reason or the other way round.
    static base::Result<ServedSchema> create(FeatureSchema features,
                                             std::vector<FeatureTerms> terms);

    const FeatureSchema& features() const { return features_; }
    const FeatureTerms& terms(size_t feature) const { return terms_[feature]; }
    /// Returns what an application without the feature counts as, encoded; NaN: missing, also
    /// where it would be refused.
    float encoded_absent(size_t feature) const;
    /// Returns whether every feature has to be given by its name, and none is retired.
    bool plain() const { return plain_; }
    /// Returns the position of the feature that has the name, or had it.
    std::optional<size_t> find(std::string_view name) const;
    /// Returns whether the feature has the name, or had it.
    bool has_name(size_t feature, std::string_view name) const;
    /// Returns for each feature whether it is retired; empty: none is.
    std::vector<bool> retired() const;
    /// Returns the features followed by one for each earlier name, for who looks features of
    /// policies up by their names.
    base::Result<FeatureSchema> all_names() const;

    /// Checks that the features of an earlier schema are the first ones here. Error:
    /// failed_precondition "schema_not_carried" names the first that is not.
    base::Status check_grown_from(const FeatureSchema& earlier) const;

    /// Checks what a producer sends at `now`. Error: failed_precondition "feature_not_accepted"
    /// names the feature that it may not send any more.
    base::Status check_accepted(std::string_view name, base::TimePoint now) const;

    bool operator==(const ServedSchema& other) const {
        return features_ == other.features_ && terms_ == other.terms_;
    }

  private:
    FeatureSchema features_;
    std::vector<FeatureTerms> terms_;
    std::map<std::string, size_t, std::less<>> earlier_;  // earlier names
    bool plain_ = true;
};

/// Parses the [[feature]] tables of a schema file, whose further keys here are
///
///     default = 0                   # or a category: what an application without it counts as
///     optional = true               # or so: it counts as missing
///     was = ["old name"]            # earlier names, the oldest first
///     retired = true                # nothing is learnt from it any more
///     accepted_until = "2027-06-30" # of a retired feature and of earlier names
///
/// The file has the other keys of a table's schema, too (feature_schema_toml.hpp); what is computed
/// from columns is refused (check_for_applications). `name` is used in errors.
base::Result<ServedSchema> parse_served_schema(std::string_view text, std::string_view name);
/// Reads a file of at most kMaxSchemaBytes.
base::Result<ServedSchema> read_served_schema(const std::filesystem::path& path);

/// Returns [[feature]] tables that parse_features() reads back as the same schema.
std::string write_features(const ServedSchema& schema);
/// Parses a text that has [[feature]] tables alone.
base::Result<ServedSchema> parse_features(std::string_view text, std::string_view name);

}  // namespace rampart::dataset
