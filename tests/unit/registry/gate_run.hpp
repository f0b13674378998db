#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "rampart/base/random.hpp"
#include "rampart/certification/certificate_file.hpp"
#include "rampart/certification/delta_ledger.hpp"
#include "rampart/certification/gate_run.hpp"

/// A small real run of the gate, for tests that need a certificate: two groups, applicants who are
/// good (impact +75 if approved) or bad (-150) as x says, a reference that approves half of
/// all persons.
namespace rampart::registry::testing {

inline base::TimePoint at(int64_t second) {
    return base::TimePoint::from_micros(second * 1'000'000);
}

template <class T>
T must(base::Result<T> result) {
    if (!result) ADD_FAILURE() << result.error().reason << ": " << result.error().message;
    return *std::move(result);
}

inline certification::GateConfig gate_config() {
    certification::GateConfig config;
    config.impact_lo = -150;
    config.impact_hi = 75;
    config.declined_impact = 0;
    config.impact_units = "credit score points";
    return config;
}

/// `good` and `bad`: the candidate's P(approve) for either kind of applicant; the reference's is
/// 0.5.
inline ope::LoggedFeedback feedback(size_t n, const std::string& prefix, double good, double bad) {
    ope::LoggedFeedback f;
    auto& d = f.decisions;
    d.logger_ids = {"logger"};
    d.groups = {{"sex=female", {}}, {"sex=male", {}}};
    base::Random random(n);
    for (size_t i = 0; i < n; ++i) {
        const bool is_good = random.bernoulli(0.6);
        const bool approved = random.bernoulli(0.5);
        d.record_id.push_back(prefix + std::to_string(i));
        d.unit_id.push_back(prefix + "p" + std::to_string(i));
        d.p_approve.push_back(0.5);
        d.approved.push_back(approved);
        d.has_impact.push_back(approved);
        d.candidate.push_back(is_good ? good : bad);
        d.reference.push_back(0.5);
        d.logger.push_back(0);
        d.groups[i % 2].records.push_back(static_cast<uint32_t>(i));
        f.impact.push_back(approved ? (is_good ? 75.0 : -150.0)
                                    : std::numeric_limits<double>::quiet_NaN());
    }
    return f;
}

struct GateRun {
    certification::Verdict verdict;
    certification::SealedCertificate files;
    std::vector<std::string> ledger;  // all entries, the run's own last
};

/// Runs the gate after the entries of `ledger`; opens an epoch of so many `runs` when there is
/// none. The certificate is issued at second 4, or `later` than that.
inline GateRun run_gate(const std::string& candidate, const std::string& reference,
                        const base::SigningKey& key, std::vector<std::string> ledger_entries = {},
                        double good = 0.75, double bad = 0.25, unsigned valid_months = 0,
                        base::Duration later = {}, unsigned runs = 12) {
    using namespace certification;
    const auto at = [later](int64_t second) { return testing::at(second) + later; };
    auto ledger = must(DeltaLedger::open(ledger_entries));
    const auto append = [&](const std::string& bytes) { EXPECT_TRUE(ledger.append(bytes)); };
    auto config = gate_config();
    config.valid_months = valid_months;
    config.runs_per_epoch = runs;
    if (ledger.epoch() == 0) {
        append(must(ledger.next_epoch(config.delta_epoch, config.runs_per_epoch, config.spending,
                                      "first", at(1))));
    }
    const RunIdentity identity{.candidate_id = candidate,
                               .reference_id = reference,
                               .feature_schema_id = std::string(64, 'f'),
                               .metric = "change of credit score",
                               .vault_rule = "all matured",
                               .period_from = at(1),
                               .period_to = at(2)};
    const auto selection = feedback(1200, "c", good, bad);
    const auto vault = feedback(2400, "v", good, bad);
    const auto checked = must(
        precheck({config, identity, ledger, "a key of the tests", selection}, vault.decisions));
    if (!checked.prepared) {
        return {checked.result.verdict,
                must(seal_refusal(config, identity, checked.result, at(4), key)), ledger.entries()};
    }
    const auto& prepared = *checked.prepared;
    append(must(ledger.next_registration(prepared.request(), at(3))));
    const auto ticket = must(ledger.ticket(prepared.request()));
    const auto sealed = must(run(prepared, ticket, vault.impact));
    auto files = must(seal(prepared, {ticket, sealed, at(3), at(4), key}, vault.impact));
    append(must(
        ledger.next_closing(sealed.verdict, base::sha256(files.certificate).hex(), "", at(4))));
    return {sealed.verdict, std::move(files), ledger.entries()};
}

}  // namespace rampart::registry::testing
