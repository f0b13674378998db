#pragma once

#include <optional>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/learning/options.hpp"
#include "rampart/model/strata.hpp"
#include "rampart/postprocessing/rows.hpp"

/// Strata by a feature of the application, inside which a criterion compares groups (conditional
/// statistical parity).
namespace rampart::postprocessing {

/// Returns the options that declare the strata: `within_feature` and what goes with it.
std::vector<learning::Option> strata_options();

/// Returns whether the options name a feature.
bool has_strata(const learning::OptionValues& values);

/// Checks the options without a schema. Errors: "bad_option" with the option's name.
base::Status check_strata_options(const learning::OptionValues& values);

/// Returns the strata that the options name, of a schema; nullopt: none, or the options are of a
/// criterion without strata. Errors: those of check_strata_options(); "bad_option" with option,
/// value and what is allowed.
base::Result<std::optional<model::Strata>> feature_strata(const learning::OptionValues& values,
                                                          const dataset::FeatureSchema& schema);

/// Checks that the strata times the groups are not more than a ramp can have. Errors: "bad_option".
base::Status check_strata_count(const learning::OptionValues& values, const model::Strata& strata,
                                size_t groups);

/// Puts the stratum of each of the features' rows into `rows`, which has as many. Errors:
/// feature_strata()'s.
base::Status add_strata(const learning::OptionValues& values, const dataset::Dataset& features,
                        Rows& rows);

/// Checks that the rows have strata where the options name a feature, and only there. Errors:
/// "size_mismatch".
base::Status check_has_strata(const learning::OptionValues& values, const Rows& rows);

/// Checks that each group has at least `within_least` rows in each stratum. Rows whose group is not
/// known do not count. Errors: "empty_stratum", "small_stratum", with stratum, group and number.
base::Status check_cells(const learning::OptionValues& values, const Rows& rows);

}  // namespace rampart::postprocessing
