#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"
#include "rampart/domain/application.hpp"

/// Public loan data as a stream of applications with the outcomes that followed them.
///
/// - default-credit-card: 30,000 card clients one after the other, over 24 months from 2022-01;
///   label 1: no default;
///   protected: sex, age.
/// - sba: 22,000 loans approved 1997 to 2006;
///   label 1: not charged off within 60 months;
///   proxies for protected attributes: business (new or existing), area.
/// - cards: 36,457 card accounts opened 2015-12 to 2020-12;
///   label 1: never 30 days late in the first 12 months;
///   protected: sex, age.
/// - simulated: a documented population over 24 months; label 1: no default; protected: race.
///
/// The files contain the outcome of every applicant; a driver must send `reports` of approved
/// applicants only, and may use `label` only to evaluate afterwards what the gate could not see.
namespace rampart::loan_stream {

/// One report of an approved applicant's label. The same (revision, value,
/// time) may occur twice.
struct Report {
    uint32_t revision = 0;  // a higher one corrects a lower one
    double value = 0;       // 1 repaid, 0 not
    base::TimePoint observed_at;
    bool operator==(const Report&) const = default;
};

struct Applicant {
    domain::Application application;
    /// By attribute name; an attribute that the source lacks is absent.
    /// Never among the features.
    std::map<std::string, std::string> protected_attributes;
    /// The true label, whatever the policy decides; nullopt if the source's record ends before the
    /// horizon. Such applicants have no reports, and their maturity lies at or after Stream::end.
    std::optional<bool> label;
    /// Reports that arrive if the applicant is approved, by time: usually one; none for 0.4 %, the
    /// same twice for 1 %, a wrong one and its correction two to six weeks later for 0.5 %.
    std::vector<Report> reports;
};

struct Stream {
    std::string name;  // name of the stream and of its product (ops/config/products/<name>.toml)
    dataset::FeatureSchema schema;      // declared, not inferred: the same for every row limit
    std::vector<Applicant> applicants;  // by event time; unique application ids
    base::TimePoint start;              // event time of the first application
    base::TimePoint end;                // by then every labelled applicant's record is complete
    int horizon_months = 0;             // suggested measure "repaid": horizon ...
    base::Duration grace;               // ... and grace, the same as in the product's file
};

struct StreamOptions {
    std::string name = "default-credit-card";
    std::filesystem::path data_dir = {};  // folder of CSV files, plain or .gz; "simulated": unused
    /// Maximum number of applicants, sampled evenly over the whole span; 0: all
    /// ("simulated": 20,000).
    size_t rows = 0;
    uint64_t seed = 1;  // for report times and irregularities, and for the simulated population
};

/// Returns the names that load() accepts.
const std::vector<std::string>& stream_names();

/// Loads a stream; the same options and files give the same stream. Fails with invalid_argument
/// (unknown name, an invalid cell: file, line and column are named), not_found (a file is missing:
/// the message says how to get it).
base::Result<Stream> load(const StreamOptions& options);

}  // namespace rampart::loan_stream
