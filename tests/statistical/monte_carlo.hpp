#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "support/gate_scenario.hpp"

namespace rampart::test {

/// Returns (and prints) the share of `repetitions` seeded repetitions in which `certifies(random)`
/// is true.
template <class Trial>
double rate_of(const std::string& name, int repetitions, uint64_t seed, const Trial& certifies) {
    int count = 0;
    for (int r = 0; r < repetitions; ++r) {
        base::Random random(base::mix64(seed) + static_cast<uint64_t>(r));
        count += certifies(random);
    }
    const double rate = static_cast<double>(count) / repetitions;
    ::testing::Test::RecordProperty(name, std::to_string(rate));
    std::printf("    %-60s %.4f  (%d repetitions)\n", name.c_str(), rate, repetitions);
    return rate;
}

/// The largest observed rate that agrees with `delta`: four standard errors above it.
inline double at_most(double delta, int repetitions) {
    return delta + 4 * std::sqrt(delta * (1 - delta) / repetitions);
}

/// One logged decision of a synthetic population.
struct Draft {
    double p = 0.5, candidate = 0.5, reference = 0.5;
    bool approved = false;
    double impact = 0;  // impact of an approval
    bool missing = false;
    size_t person = 0;
};

/// Adds the record to the only group.
inline void add(ope::LoggedFeedback& f, const Draft& draft, const std::string& prefix) {
    ope::LoggedDecisions& d = f.decisions;
    if (d.groups.empty()) {
        d.groups = {{"everybody", {}}};
        d.logger_ids = {"logger"};
    }
    const bool known = draft.approved && !draft.missing;
    d.groups[0].records.push_back(static_cast<uint32_t>(d.size()));
    d.record_id.push_back(prefix + "d" + std::to_string(d.size()));
    d.unit_id.push_back(prefix + "p" + std::to_string(draft.person));
    d.p_approve.push_back(draft.p);
    d.approved.push_back(draft.approved);
    d.has_impact.push_back(known);
    d.candidate.push_back(draft.candidate);
    d.reference.push_back(draft.reference);
    d.logger.push_back(0);
    f.impact.push_back(known ? draft.impact : std::numeric_limits<double>::quiet_NaN());
}

/// The whole gate, one run with the full delta: precheck, registration, run.
inline certification::Verdict gate_verdict(certification::GateConfig config,
                                           const ope::LoggedFeedback& selection,
                                           const ope::LoggedFeedback& vault) {
    config.runs_per_epoch = 1;
    certification::DeltaLedger ledger = ledger_for(config);
    const auto checked = certification::precheck(
        {config, lender_identity(), ledger, kPseudonymKey, selection}, vault.decisions);
    EXPECT_TRUE(checked);
    if (!checked->prepared) return checked->result.verdict;
    const auto request = checked->prepared->request();
    EXPECT_TRUE(ledger.append(*ledger.next_registration(request, base::TimePoint())));
    return certification::run(*checked->prepared, *ledger.ticket(request), vault.impact)->verdict;
}

inline bool certified(const certification::GateConfig& config, const ope::LoggedFeedback& selection,
                      const ope::LoggedFeedback& vault) {
    return gate_verdict(config, selection, vault) == certification::Verdict::kCertified;
}

}  // namespace rampart::test
