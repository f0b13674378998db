// The claim of the reasons of a decline (ADR 38) holds for over 10,000 declines of made-up and real
// applicants, by policies of every kind, as a checker says that shares no code with the search.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <set>

#include "claim_checker.hpp"
#include "rampart/decision/encode.hpp"
#include "rampart/decision/reason_codes.hpp"
#include "rampart/learning/learner.hpp"
#include "rampart/loan_stream/stream.hpp"
#include "support/places.hpp"
#include "unit/attribution/made_up.hpp"

namespace rampart::reasons_test {
namespace {

using attribution::Cited;
using attribution::DeclinedBy;
using attribution::ReferenceSet;
using attribution::Unit;
using attribution::testing::group_for;
using attribution::testing::kParts;
using attribution::testing::MadeUp;

/// What was tried.
struct Tally {
    size_t declines = 0, cited = 0, several = 0, reached = 0, others = 0;
    size_t compared = 0, before_fails = 0;  // with the method before ADR 38
    std::set<DeclinedBy> kinds;

    void add(const Cited& found) {
        ++declines;
        cited += !found.units.empty();
        several += found.units.size() > 1;
        reached += found.reaches;
        others += found.others;
        kinds.insert(found.by);
    }
    void print(const std::string& name) const {
        fmt::print(stderr,
                   "    {}: {} declines, {} with reasons, {} with several, {} reach the draw, {} "
                   "among others; the method before: wrong in {} of {}\n",
                   name, declines, cited, several, reached, others, before_fails, compared);
    }
};

/// Whom a policy decides about, and with whom they are compared.
struct Setting {
    const model::Policy& policy;
    std::optional<size_t> group;
    std::vector<Unit> units;
    ReferenceSet set;

    OfRow asked() const {
        return [this](std::span<const float> row) { return policy.evaluate(row, group).approve; };
    }
};

/// Returns whether the feature that the method before cites first, by the last link's score, is the
/// strongest of those that it cites, and one that raises P at all.
bool before_holds(const Setting& setting, std::span<const float> row,
                  std::span<const float> reference, double u) {
    const auto& policy = setting.policy;
    const auto explained = model::Policy::create(
        policy.schema(), policy.links(), policy.group_names(), {},
        {.reasons = {{model::ReasonMethod::kShapley, {reference.begin(), reference.end()}}}});
    const auto codes = decision::ReasonCodes::create(explained.value());
    const auto output = policy.evaluate(row, setting.group);
    const auto p = setting.asked();
    double first = -1, strongest = -1;
    for (const auto& code : codes.value().explain(row, output, output.approve, u)) {
        if (!code.starts_with(decision::kFeatureReasonPrefix)) continue;
        const auto name = code.substr(decision::kFeatureReasonPrefix.size());
        const size_t j = policy.schema().find(name).value();
        std::vector<float> restored(row.begin(), row.end());
        restored[j] = reference[j];
        const double alone = p(restored);
        if (first < 0) first = alone;
        strongest = std::max(strongest, alone);
    }
    return first >= 0 && first == strongest && first > output.approve;
}

/// Explains a decline, and checks what is said of it. `exact`: against every set.
void check_decline(const Setting& setting, std::span<const float> row, double u, bool exact,
                   Tally& tally) {
    const auto served = attribution::served_probability(setting.policy, setting.group, true);
    const auto reference =
        setting.set.row(attribution::nearest(setting.set, setting.policy.schema(), row));
    const auto values = attribution::shapley_values(served, row, setting.set, setting.units, 1);
    const double p_exploit = setting.policy.evaluate(row, setting.group).exploit;
    const auto cited =
        attribution::cited_reasons(served, row, reference, setting.units, values, p_exploit, u);
    const auto p = setting.asked();
    const Mixtures mixtures(p, row, reference, setting.units);
    const Said said{cited, u, p_exploit};
    if (exact) {
        const auto lowered = shapley_by_definition(p, row, setting.set.rows, setting.units);
        for (size_t k = 0; k < lowered.size(); ++k)
            ASSERT_NEAR(values.lowered[k], lowered[k], 1e-9) << setting.units[k].name;
        ASSERT_EQ(broken(mixtures, lowered, said), "");
    } else {
        ASSERT_EQ(broken_by_its_units(mixtures, said), "");
    }
    tally.add(cited);
    if (cited.units.empty() || setting.policy.links().size() < 2) return;
    ++tally.compared;
    tally.before_fails += !before_holds(setting, row, reference, u);
}

/// Returns the number of declines to check; of the long run more.
size_t wanted(size_t normal) {
    const char* text = std::getenv("RAMPART_REASONS_DECLINES");
    return text != nullptr ? static_cast<size_t>(std::atol(text)) : normal;
}

/// Leaves so many of the reference rows: values are computed by the definition against each.
void keep(ReferenceSet& set, size_t rows) {
    set.rows.resize(std::min(rows, set.size()) * set.width);
}

void try_made_up(uint64_t seed, Tally& tally) {
    MadeUp made(seed, 7);
    const auto policy = made.policy(1 + seed / 8 % 6, kParts[seed % std::size(kParts)]);
    Setting setting{policy, group_for(policy, seed % 2), attribution::units_of(policy).value(), {}};
    const auto p = attribution::served_probability(policy, setting.group, true);
    setting.set = attribution::choose_reference_set(p, policy.schema(), made.rows(100)).value();
    keep(setting.set, 4);
    for (int i = 0; i < 40; ++i) {
        const auto row = made.row();
        const double u = made.random().uniform();
        if (u < policy.evaluate(row, setting.group).approve) continue;
        ASSERT_NO_FATAL_FAILURE(check_decline(setting, row, u, true, tally)) << "row " << i;
    }
}

TEST(CausalReasons, HoldOfMadeUpApplicantsForPoliciesOfEveryKind) {
    const size_t declines = wanted(10'000);
    Tally tally;
    for (uint64_t seed = 0; tally.declines < declines; ++seed)
        ASSERT_NO_FATAL_FAILURE(try_made_up(10'000 + seed, tally)) << "seed " << 10'000 + seed;
    tally.print("made-up applicants");
    EXPECT_GT(tally.cited, declines / 2);
    EXPECT_GT(tally.several, declines / 10);
    EXPECT_GT(tally.reached, declines / 4);
    EXPECT_GT(tally.others, declines / 100);
    EXPECT_EQ(tally.kinds.size(), 4u) << "features, both, draw, exploration";
    EXPECT_GT(tally.before_fails, tally.compared / 4) << "the method before does not hold";
}

/// Clients of a bank (UCI, Taiwan 2005): rows, and a table to learn from.
struct Clients {
    dataset::Dataset table;
    std::vector<std::vector<float>> rows;
};

std::filesystem::path data_folder() {
    const char* folder = std::getenv("RAMPART_DATA");
    return folder != nullptr ? folder : test_support::source_dir() + "/../shared/data";
}

std::optional<Clients> clients(size_t count) {
    const auto stream = loan_stream::load(
        {.name = "default-credit-card", .data_dir = data_folder(), .rows = count});
    if (!stream) return std::nullopt;
    Clients out;
    auto& table = out.table;
    table.schema = stream->schema;
    table.columns.resize(table.schema.size());
    table.group_names = {"male", "female"};
    for (const auto& applicant : stream->applicants) {
        auto row = decision::encode_row(applicant.application, table.schema).value();
        for (size_t j = 0; j < row.size(); ++j) table.columns[j].push_back(row[j]);
        table.label.push_back(applicant.label.value_or(true) ? 1 : 0);
        table.group.push_back(applicant.protected_attributes.at("sex") == "male" ? 0 : 1);
        out.rows.push_back(std::move(row));
    }
    return out;
}

dataset::Dataset first_rows(const dataset::Dataset& table, uint32_t rows) {
    std::vector<uint32_t> numbers(rows);
    std::iota(numbers.begin(), numbers.end(), 0u);
    return table.subset(numbers);
}

model::LearnedLink learnt(const dataset::Dataset& table, const std::string& name,
                          const std::map<std::string, learning::OptionValue>& asked = {}) {
    const auto* learner = learning::find_learner(name).value();
    learning::OptionValues values(learner->options());
    std::map<std::string, learning::OptionValue> all{{"trees", int64_t{15}},
                                                     {"leaves", int64_t{6}},
                                                     {"fits", int64_t{6}},
                                                     {"max_oracle_calls", int64_t{6}},
                                                     {"tolerance", 0.1},
                                                     {"learning_rate", 0.3},
                                                     {"operate_at", std::string("approve=0.7")}};
    for (const auto& [option, value] : asked) {
        EXPECT_TRUE(values.has(option)) << name << option;
        all[option] = value;
    }
    for (const auto& [option, value] : all) {
        if (!values.has(option)) continue;
        EXPECT_TRUE(values.set(option, value)) << name << option;
    }
    auto learned = learning::fit(*learner, {.train = table, .seed = 3}, values);
    EXPECT_TRUE(learned) << name << ": " << learned.error().message;
    return learned->link;
}

/// Policies that a lender could have, by name.
std::vector<std::pair<std::string, model::Policy>> policies_for(const dataset::Dataset& table) {
    const auto trees = learnt(table, "gbdt");
    const double cut = trees.ramp.thresholds.at(0);
    auto ramp = trees, by_group = trees, explores = trees;
    ramp.ramp = {0.4, 0.5, {cut}, {1}};
    by_group.ramp = {0.3, 0.5, {cut - 0.1, cut + 0.1}, {1, 1}};
    explores.ramp = {0.2, 0.5, {cut}, {1}};
    explores.exploration = {model::ExplorationMode::kOneSided, 0.05};
    auto linear = learnt(table, "fair-regression", {{"oracle", std::string("linear")}});
    auto mixture = learnt(table, "eg");
    EXPECT_FALSE(linear.linears.empty());
    EXPECT_GT(mixture.members.size(), 1u);
    for (auto* link : {&by_group, &explores, &linear, &mixture}) link->kappa = 0.9;
    const model::BootstrapLink declared{
        "LIMIT_BAL", {{10'000, 0.3}, {100'000, 0.6}, {400'000, 0.95}}, 0.5};
    std::vector<std::pair<std::string, model::Policy>> out;
    const auto add = [&](const std::string& name, std::vector<model::Link> links) {
        bool groups = false;
        for (const auto& link : links)
            if (const auto* one = std::get_if<model::LearnedLink>(&link))
                groups |= one->group_aware();
        const auto names = groups ? table.group_names : std::vector<std::string>();
        out.emplace_back(name,
                         model::Policy::create(table.schema, std::move(links), names, {}).value());
    };
    add("trees", {trees});
    add("a ramp", {ramp});
    add("trees with exploration in a trust region", {declared, explores});
    add("a mixture in a trust region", {declared, mixture});
    add("linear models in a trust region", {declared, linear});
    add("thresholds by group in a trust region", {declared, by_group});
    add("a chain of four", {declared, ramp, mixture, explores});
    return out;
}

/// Returns so many declines of each policy to check, drawn for rows one after the other.
void try_clients(const Clients& clients, const model::Policy& policy, bool grouped, size_t declines,
                 Tally& tally) {
    const std::vector<attribution::FeatureGroup> groups{
        {"payments late", {"PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6"}},
        {"bills", {"BILL_*"}},
        {"payments", {"PAY_AMT*"}}};
    Setting setting{
        policy,
        group_for(policy, 1),
        (grouped ? attribution::units_of(policy, groups) : attribution::units_of(policy)).value(),
        {}};
    const auto p = attribution::served_probability(policy, setting.group, true);
    std::vector<float> pool;
    for (size_t i = 0; i < 1000; ++i)
        pool.insert(pool.end(), clients.rows[i].begin(), clients.rows[i].end());
    setting.set = attribution::choose_reference_set(p, policy.schema(), pool).value();
    if (grouped) keep(setting.set, 6);
    base::Random random(7);
    const size_t until = tally.declines + declines;
    for (size_t i = 1000; tally.declines < until; ++i) {
        ASSERT_LT(i, 100'000u) << "too few are declined";
        const auto& row = clients.rows[1000 + i % (clients.rows.size() - 1000)];
        const double u = random.uniform();
        if (u < policy.evaluate(row, setting.group).approve) continue;
        ASSERT_NO_FATAL_FAILURE(check_decline(setting, row, u, grouped, tally)) << "row " << i;
    }
}

TEST(CausalReasons, HoldOfRealApplicantsForPoliciesThatWereLearnt) {
    const auto some = clients(6000);
    if (!some)
        GTEST_SKIP() << "no card data in " << data_folder() << ": get them with ops/data, or set "
                     << "RAMPART_DATA";
    const auto policies = policies_for(first_rows(some->table, 2000));
    const size_t each = wanted(2800) / policies.size() + 1;
    Tally all;
    for (const auto& [name, policy] : policies) {
        Tally tally;
        ASSERT_NO_FATAL_FAILURE(try_clients(*some, policy, true, each, tally)) << name;
        tally.print(name);
        EXPECT_GT(tally.cited, each / 20) << name;
        all.declines += tally.declines;
        all.compared += tally.compared;
        all.before_fails += tally.before_fails;
        all.several += tally.several;
    }
    EXPECT_GT(all.several, all.declines / 10);
    EXPECT_GT(all.before_fails, all.compared / 4) << "the method before does not hold";
}

TEST(CausalReasons, OfManyFeaturesHoldForTheCitedOnesThemselves) {
    const auto some = clients(3000);
    if (!some) GTEST_SKIP() << "no card data in " << data_folder() << ": get them with ops/data";
    for (const auto& [name, policy] : policies_for(first_rows(some->table, 2000))) {
        Tally tally;
        ASSERT_NO_FATAL_FAILURE(try_clients(*some, policy, false, 10, tally)) << name;
    }
}

}  // namespace
}  // namespace rampart::reasons_test
