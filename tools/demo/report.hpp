#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"

/// Report of a run. Filled by the driver, written as JSON and as one HTML page. Everything except
/// `seconds` depends on data, configuration and seed only.
namespace rampart::demo {

/// Counts of one group (or of all applicants) in one month of event time.
struct GroupMonth {
    long applications = 0, approved = 0, explored = 0;
    long approved_known = 0;  // approved, with a true outcome in the files
    long defaults = 0;        // among approved_known
    double impact = 0;        // sum of true impacts (declined: the known value)
    long impact_known = 0;    // decisions whose impact is known
};

struct Month {
    std::string month;                           // "2022-04"
    std::map<std::string, GroupMonth> by_group;  // "everybody" and each protected group
    std::map<std::string, long> decisions_by_policy;
};

struct PolicyReport {
    std::string id, name;  // "bootstrap", "run 3"
    bool certified = false;
    size_t links = 0;
    std::string learner;             // as in the provenance; empty for the bootstrap
    std::string live_from, live_to;  // ISO 8601; empty: never, or until now
    std::map<std::string, double>
        value;  // true mean impact by group, if it had decided about all of the vault
};

struct GateGroup {
    std::string name;
    long units = 0;
    double estimate = 0, lower_bound = 0, t_lower_bound = 0, log_wealth = 0, log_wealth_needed = 0;
    bool passed = false;
    std::optional<double>
        true_gain;  // by the hidden outcomes, over the records of the certificate's period
};

struct GateRun {
    int run = 0;
    std::string time, verdict, detail, candidate, reference, certificate_file;
    double delta = 0;
    std::vector<GateGroup> groups;
    std::optional<bool> right;  // CERTIFIED only: no group's true gain is below the claim
};

struct LedgerLine {
    int epoch = 0, run = 0;
    double delta = 0, spent = 0;
    std::string time, candidate, verdict, hash;
};

struct Report {
    std::string stream, data, broker = "local", version;
    uint64_t seed = 0;
    std::string learner;  // by which candidates are trained
    long rows = 0;
    std::string impact_units;
    double impact_lo = 0, impact_hi = 0, delta_epoch = 0;
    std::vector<std::string> groups;
    std::vector<Month> months;
    std::vector<PolicyReport> policies;
    std::vector<GateRun> gate_runs;
    std::vector<LedgerLine> ledger;
    std::map<std::string, double> value_first,
        value_final;  // by group, over the people of the vault, by true outcomes
    std::map<std::string, double> approved_first,
        approved_final;  // mean P(approve) by group, over the same people
    bool final_not_below_first = false;
    long certificates = 0, certificates_right = 0;
    std::map<std::string, long> joiner;  // counts by name
    std::string state_hash;
    std::map<std::string, double> seconds;  // wall time by phase, CPU time of the service
};

std::string to_json(const Report& report);
std::string to_html(const Report& report);
/// Returns the summary for a terminal.
std::string to_text(const Report& report);

}  // namespace rampart::demo
