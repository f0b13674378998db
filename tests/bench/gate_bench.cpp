// The cost of a gate run at scale: one million vault records in four groups.
#include <benchmark/benchmark.h>

#include "support/gate_scenario.hpp"

namespace rampart {
namespace {

struct Case {
    certification::GateConfig config = test::lender_config();
    certification::DeltaLedger ledger = test::ledger_for(config);
    ope::LoggedFeedback selection, vault;

    explicit Case(size_t records) {
        base::Random random(7);
        selection = test::simulate({.records = 10'000, .skill = 0.2, .prefix = "c"}, random);
        vault = test::simulate({.records = records, .skill = 0.2}, random);
        for (auto* d : {&selection.decisions, &vault.decisions}) {  // young and old of both
            for (const size_t g : {0, 1}) {
                d->groups.push_back({d->groups[g].name + " under 30", {}});
                for (const uint32_t i : d->groups[g].records) {
                    if (i % 6 < 3) d->groups.back().records.push_back(i);
                }
            }
        }
    }
};

const Case& million() {
    static const Case made(1'000'000);
    return made;
}

certification::MemoryVault intake() {
    return *certification::MemoryVault::from(million().vault.decisions, test::kPseudonymKey);
}

certification::PreparedRun check(const certification::VaultSource& vault) {
    const Case& c = million();
    return *certification::precheck(
                {c.config, test::lender_identity(), c.ledger, test::kPseudonymKey, c.selection},
                vault)
                ->prepared;
}

/// Pseudonymous ids, in order: made once for a run, before the gate.
void pseudonymise(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(intake());
}
BENCHMARK(pseudonymise)->Unit(benchmark::kMillisecond);

void precheck(benchmark::State& state) {
    const auto vault = intake();
    for (auto _ : state) benchmark::DoNotOptimize(check(vault));
}
BENCHMARK(precheck)->Unit(benchmark::kMillisecond);

void run(benchmark::State& state) {
    const Case& c = million();
    const auto vault = intake();
    const certification::PreparedRun prepared = check(vault);
    certification::DeltaLedger ledger = c.ledger;
    const auto request = prepared.request();
    (void)ledger.append(*ledger.next_registration(request, base::TimePoint()));
    const auto ticket = *ledger.ticket(request);
    const auto feedback = *vault.with_impacts(c.vault.impact);
    for (auto _ : state) {
        benchmark::DoNotOptimize(certification::run(prepared, ticket, feedback));
    }
}
BENCHMARK(run)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rampart
