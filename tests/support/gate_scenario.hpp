#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "rampart/base/random.hpp"
#include "rampart/certification/gate_run.hpp"

namespace rampart::test {

/// A synthetic lender with known truth. Half of the applicants are good (repay with probability
/// 0.9), half are not (0.35). The impact of an approval is +75 or -150, that of a decline 0. The
/// candidate moves P(approve) by half of min(p, 1 - p), in the right direction with probability (1
/// + skill) / 2: at skill 0 its true gain is 0 in every group, for any sample.
struct LenderScenario {
    size_t records = 1000;
    double skill = 0;
    double missing = 0;  // share of approvals without an outcome
    size_t records_per_person = 1;
    std::string prefix = "v";   // prefix of ids: persons with different prefixes are different
    double miscalibration = 0;  // draws use p + this, and p is logged
};

inline ope::LoggedFeedback simulate(const LenderScenario& scenario, base::Random& random) {
    ope::LoggedFeedback f;
    ope::LoggedDecisions& d = f.decisions;
    d.logger_ids = {"bootstrap"};
    d.groups = {{"women", {}}, {"men", {}}};
    for (uint32_t i = 0; i < scenario.records; ++i) {
        const double p = random.uniform(0.3, 0.7);
        const bool good = random.bernoulli(0.5), right = random.bernoulli((1 + scenario.skill) / 2);
        const double step = 0.5 * std::min(p, 1 - p);
        const bool approved = random.bernoulli(p + scenario.miscalibration);
        const bool repaid = random.bernoulli(good ? 0.9 : 0.35),
                   lost = random.bernoulli(scenario.missing);
        const bool known = approved && !lost;
        d.record_id.push_back(scenario.prefix + "-d" + std::to_string(i));
        d.unit_id.push_back(scenario.prefix + "-p" +
                            std::to_string(i / scenario.records_per_person));
        d.p_approve.push_back(p);
        d.approved.push_back(approved);
        d.has_impact.push_back(known);
        d.candidate.push_back(good == right ? p + step : p - step);
        d.reference.push_back(p);
        d.logger.push_back(0);
        d.groups[i / scenario.records_per_person % 2].records.push_back(i);
        f.impact.push_back(known ? (repaid ? 75.0 : -150.0)
                                 : std::numeric_limits<double>::quiet_NaN());
    }
    return f;
}

inline certification::GateConfig lender_config() {
    certification::GateConfig config;
    config.impact_lo = -150;
    config.impact_hi = 75;
    config.declined_impact = 0;
    config.impact_units = "credit score points";
    config.spending =
        certification::Spending::kEqual;  // for one run per epoch: it has all of delta
    return config;
}

inline certification::RunIdentity lender_identity() {
    certification::RunIdentity id;
    id.candidate_id = "candidate-1";
    id.reference_id = "bootstrap";
    id.feature_schema_id = "schema-1";
    id.metric = "change of credit score";
    id.vault_rule = "vault records matured by 2005-07-01";
    id.period_from = *base::parse_iso8601("2004-01-01");
    id.period_to = *base::parse_iso8601("2005-01-01");
    return id;
}

inline constexpr std::string_view kPseudonymKey = "0123456789abcdef";

/// Returns an epoch as `config` declares it.
inline certification::DeltaLedger ledger_for(const certification::GateConfig& config) {
    certification::DeltaLedger ledger = *certification::DeltaLedger::open({});
    const auto entry = ledger.next_epoch(config.delta_epoch, config.runs_per_epoch, config.spending,
                                         "first epoch", *base::parse_iso8601("2005-07-01"));
    (void)ledger.append(*entry);
    return ledger;
}

}  // namespace rampart::test
