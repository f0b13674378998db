// The ELF paper's safety test on a log, `rampart gate --method elf`, against certification rates
// that were measured independently: tests/golden/elf_table.txt.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "rampart/gate_log/elf.hpp"
#include "reference_population.hpp"
#include "support/places.hpp"

namespace rampart::test {
namespace {

using namespace reference;

/// A rate of the table, by t.
struct Cell {
    std::string_view scenario, passed;  // passed: "both" groups, or "group1"
    double alpha = 0;
    size_t n = 0;
};

struct Rate {
    double value = 0, repetitions = 0;
};

Rate rate_of(const Cell& cell) {
    std::ifstream table(test_support::source_dir() + "/tests/golden/elf_table.txt");
    for (std::string line; std::getline(table, line);) {
        std::istringstream words(line);
        std::string candidate, scenario, passed, alpha, n, repetitions, rate;
        words >> candidate >> scenario >> passed >> alpha >> n >> repetitions >> rate;
        if (candidate == "near" && scenario == cell.scenario && passed == cell.passed &&
            rate != "-" && alpha == fmt::format("{}", cell.alpha) && n == std::to_string(cell.n))
            return {std::stod(rate), std::stod(repetitions)};
    }
    ADD_FAILURE() << cell.scenario << cell.n << ": not in the table";
    return {};
}

void add(ope::LoggedFeedback& side, size_t group, const Person& person, double pi, double alpha) {
    auto& d = side.decisions;
    d.groups[group].records.push_back(static_cast<uint32_t>(side.impact.size()));
    d.p_approve.push_back(person.p);
    d.approved.push_back(person.approved ? 1 : 0);
    d.candidate.push_back(pi);
    side.impact.push_back(impact(person, alpha));
}

gate_log::DecisionFile draw_log(base::Random& random, const Candidate& candidate,
                                const Cell& cell) {
    gate_log::DecisionFile log;
    log.development.decisions.groups = log.vault.decisions.groups = {{"0", {}}, {"1", {}}};
    size_t in_group1 = 0;
    for (size_t i = 0; i < cell.n; ++i) in_group1 += random.bernoulli(kShareOfGroup1) ? 1 : 0;
    for (size_t group = 0; group < 2; ++group) {
        const size_t n = group == 1 ? in_group1 : cell.n - in_group1;
        const auto selected = static_cast<size_t>(std::lround(kShareOfSelection * double(n)));
        for (size_t i = 0; i < n; ++i) {
            const Person person = draw(random, group);
            add(i < selected ? log.development : log.vault, group, person,
                probability(candidate, person), cell.alpha);
        }
    }
    return log;
}

/// Returns the share of logs that pass; not `whole_log`: tau from the vault alone, which is wrong.
double measured(const Cell& cell, int repetitions, bool whole_log = true) {
    const auto& candidate =
        *std::find_if(kCandidates.begin(), kCandidates.end(),
                      [&](const Candidate& c) { return c.near && c.scenario == cell.scenario; });
    certification::GateConfig config;
    config.delta_epoch = kDelta;
    config.impact_lo = impact_range(1, cell.alpha).lo;
    config.impact_hi = impact_range(1, cell.alpha).hi;
    base::Random random(7);
    int passed = 0;
    for (int i = 0; i < repetitions; ++i) {
        auto log = draw_log(random, candidate, cell);
        if (!whole_log) {
            log.development = {};
            log.development.decisions.groups = {{"0", {}}, {"1", {}}};
        }
        const auto answer = gate_log::elf_test(log, config, stats::BoundMethod::kStudentT).value();
        passed += (cell.passed == "both" ? answer.passed : answer.groups[1].passed) ? 1 : 0;
    }
    return passed / static_cast<double>(repetitions);
}

/// Four standard errors of the difference, and 0.005.
double tolerance(const Rate& rate, int repetitions) {
    return 4 * std::sqrt(rate.value * (1 - rate.value) *
                         (1 / rate.repetitions + 1.0 / repetitions)) +
           0.005;
}

constexpr int kRepetitions = 500;

TEST(ElfOnALog, CertifiesAsOftenAsTheTableOfAnotherImplementationSays) {
    for (const Cell& cell :
         {Cell{"better", "both", 0.9, 1024}, Cell{"better", "both", 0.9, 4096},
          Cell{"better", "both", 0.5, 4096}, Cell{"null0", "group1", 0.9, 4096}}) {
        const Rate rate = rate_of(cell);
        EXPECT_NEAR(measured(cell, kRepetitions), rate.value, tolerance(rate, kRepetitions))
            << cell.scenario << " " << cell.alpha << " " << cell.n;
    }
}

TEST(ElfOnALog, ATauOfTheVaultAloneWouldNotAgree) {
    const Cell cell{"better", "both", 0.9, 4096};
    const Rate rate = rate_of(cell);
    EXPECT_GT(std::abs(measured(cell, kRepetitions, false) - rate.value),
              tolerance(rate, kRepetitions));
}

}  // namespace
}  // namespace rampart::test
