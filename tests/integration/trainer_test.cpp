// How candidates are made, and what the trainer remembers.
#include <cmath>
#include <filesystem>

#include <unistd.h>

#include <gtest/gtest.h>

#include "rampart/base/digest.hpp"
#include "rampart/base/random.hpp"
#include "rampart/model/model_file.hpp"
#include "services/trainer/candidate.hpp"
#include "services/trainer/gate_inputs.hpp"
#include "services/trainer/run_store.hpp"

namespace rampart::trainer {
namespace {

constexpr size_t kRows = 4000;

domain::Impact impact() { return {"points", -150, 75, std::nullopt, 75, -150, 0}; }

/// x0 tells who repays; cell 1 has a lower x0; half of each cell was approved, by P = 0.5.
training_set::DevelopmentSet development_set() {
    training_set::DevelopmentSet set;
    set.schema = dataset::FeatureSchema::create({{"x0", dataset::FeatureKind::kNumeric, {}}, {"x1", dataset::FeatureKind::kNumeric, {}}}).value();
    set.group_names = {"sex=female", "sex=male"};
    set.cell_names = set.group_names;
    base::Random random(3);
    for (size_t i = 0; i < kRows; ++i) {
        const uint32_t cell = i % 2;
        const double x0 = random.normal() - (cell == 1 ? 0.7 : 0.0);
        training_set::Row row;
        row.decision = domain::DecisionId(fmt::format("d{}", i));
        row.person = domain::PersonId(fmt::format("p{}", i));
        row.event_time = base::TimePoint::from_micros(static_cast<int64_t>(i));
        row.policy = domain::PolicyId("bootstrap");
        row.p_approve = 0.5;
        row.approved = random.bernoulli(0.5);
        if (row.approved) {
            row.label = random.bernoulli(model::sigmoid(1.0 + 1.5 * x0)) ? 1.0 : 0.0;
            row.impact = *row.label == 1 ? 75.0 : -150.0;
        }
        row.cell = cell;
        row.groups = {cell};
        set.rows.push_back(std::move(row));
        set.features.push_back(static_cast<float>(x0));
        set.features.push_back(static_cast<float>(random.normal()));
    }
    return set;
}

model::Policy bootstrap(const training_set::DevelopmentSet& set) {
    const model::BootstrapLink link{"x0", {{-2, 0.3}, {2, 0.8}}, 0.5};
    return model::Policy::create(set.schema, {link}, {}, {}).value();
}

TrainingSettings settings() {
    TrainingSettings out;
    out.recipe.params.trees = 60;
    out.recipe.params.leaves = 8;
    out.recipe.params.early_stopping_rounds = 10;
    return out;
}

/// Mean true gain, by the generating model, over all rows.
double mean_gain(const training_set::DevelopmentSet& set, const model::Policy& candidate, const model::Policy& reference) {
    double sum = 0;
    for (size_t i = 0; i < set.rows.size(); ++i) {
        const auto row = set.features_of(i);
        const double p = model::sigmoid(1.0 + 1.5 * row[0]);
        const auto cell = std::optional<size_t>(*set.rows[i].cell);
        sum += (candidate.evaluate(row, cell).approve - reference.evaluate(row, cell).approve) * (75 * p - 150 * (1 - p));
    }
    return sum / static_cast<double>(set.rows.size());
}

TEST(Candidate, GainsOnTheChampionAndStaysInItsTrustRegion) {
    const auto set = development_set();
    const auto champion = bootstrap(set);
    const auto candidate = make_candidate(set, impact(), champion, "champion", settings(), nullptr).value();
    EXPECT_EQ(candidate.policy.links().size(), 2u);
    EXPECT_FALSE(candidate.policy.group_aware());
    EXPECT_GT(mean_gain(set, candidate.policy, champion), 5);
    for (size_t i = 0; i < set.rows.size(); ++i) {
        const double s = champion.evaluate(set.features_of(i), std::nullopt).approve;
        const double pi = candidate.policy.evaluate(set.features_of(i), std::nullopt).approve;
        ASSERT_LE(std::abs(pi - s), 0.5 * std::min(s, 1 - s) + 1e-12);
    }
    EXPECT_EQ(candidate.policy.provenance().at("parent"), "champion");
    EXPECT_TRUE(candidate.policy.provenance().contains("reference_row"));
}

TEST(Candidate, TheSameArgumentsGiveTheSameFile) {
    const auto set = development_set();
    const auto champion = bootstrap(set);
    base::ThreadPool pool(2);
    const auto a = make_candidate(set, impact(), champion, "champion", settings(), nullptr).value();
    const auto b = make_candidate(set, impact(), champion, "champion", settings(), &pool).value();
    EXPECT_EQ(model::encode_model_file(a.policy), model::encode_model_file(b.policy));
}

TEST(Candidate, StatisticalParityEqualisesTheApprovalRatesOfItsOwnRule) {
    const auto set = development_set();
    auto wanted = settings();
    wanted.group_aware = true;
    wanted.recipe.criterion = "statistical_parity";
    wanted.recipe.epsilon = 0.02;
    const auto rate_gap = [&](const model::Policy& policy) {
        const auto& link = std::get<model::LearnedLink>(policy.links().back());
        double rate[2] = {0, 0};
        for (size_t i = 0; i < set.rows.size(); ++i) {
            const double p = model::sigmoid(link.ensemble.predict_raw(set.features_of(i)));
            const size_t cell = *set.rows[i].cell;
            rate[cell] += link.ramp.apply(std::clamp(link.score_slope * p + link.score_intercept, -1.0, 1.0), cell) / (kRows / 2.0);
        }
        return std::abs(rate[0] - rate[1]);
    };
    const auto fair = make_candidate(set, impact(), bootstrap(set), "champion", wanted, nullptr).value();
    EXPECT_TRUE(fair.policy.group_aware());
    EXPECT_LE(rate_gap(fair.policy), 0.02 + 1e-9);
    const auto plain = make_candidate(set, impact(), bootstrap(set), "champion", settings(), nullptr).value();
    EXPECT_GT(rate_gap(plain.policy), 0.1) << "the data must not be fair by themselves";
}

TEST(Candidate, FairGbmIsALearnerLikeTheOther) {
    const auto set = development_set();
    auto wanted = settings();
    wanted.recipe.learner = "fairgbm";
    wanted.recipe.constraints = {"fnr"};
    wanted.recipe.tolerance = 0.1;
    const auto candidate = make_candidate(set, impact(), bootstrap(set), "champion", wanted, nullptr).value();
    EXPECT_EQ(candidate.policy.provenance().at("learner"), "fairgbm");
    EXPECT_TRUE(candidate.figures.contains("feasible"));
}

TEST(Candidate, TooLittleToLearnFromIsSaid) {
    auto set = development_set();
    for (auto& row : set.rows) row.label.reset();
    const auto candidate = make_candidate(set, impact(), bootstrap(set), "champion", settings(), nullptr);
    ASSERT_FALSE(candidate);
    EXPECT_EQ(candidate.error().code, base::ErrorCode::kFailedPrecondition);
}

TEST(Candidate, ALongChainIsDistilledIntoOneLinkThatComesClose) {
    const auto set = development_set();
    auto wanted = settings();
    wanted.recipe.max_links = 2;
    auto champion = bootstrap(set);
    champion = make_candidate(set, impact(), champion, "a", wanted, nullptr).value().policy;
    ASSERT_EQ(champion.links().size(), 2u);
    const auto student = distil(set, champion, wanted.recipe, nullptr).value();
    const auto alone = model::Policy::create(set.schema, {student}, {}, {}).value();
    double worst = 0, sum = 0;
    for (size_t i = 0; i < set.rows.size(); ++i) {
        const double s = champion.evaluate(set.features_of(i), std::nullopt).approve;
        const double error = std::abs(alone.evaluate(set.features_of(i), std::nullopt).approve - s);
        worst = std::max(worst, error);
        sum += error;
    }
    EXPECT_LT(sum / kRows, 0.01);
    EXPECT_LT(worst, 0.2);
    const auto next = make_candidate(set, impact(), champion, "b", wanted, nullptr).value();
    EXPECT_EQ(next.policy.links().size(), 2u) << "the student and one link on top of it";
    EXPECT_EQ(next.policy.provenance().at("training.distilled"), "yes");
}

TEST(GateInputs, DecisionsCarryPropensitiesPoliciesAndGroupsButNoImpact) {
    const auto development = development_set();
    training_set::VaultSet vault;
    vault.schema = development.schema;
    vault.rows = development.rows;
    vault.features = development.features;
    vault.group_names = development.group_names;
    const auto champion = bootstrap(development);
    const auto decisions = vault_decisions(vault, champion, champion).value();
    ASSERT_EQ(decisions.size(), kRows);
    EXPECT_EQ(decisions.p_approve[0], 0.5);
    EXPECT_EQ(decisions.candidate, decisions.reference);
    EXPECT_EQ(decisions.logger_ids, std::vector<std::string>{"bootstrap"});
    EXPECT_EQ(decisions.groups[1].records[0], 1u);
    auto ledger = certification::DeltaLedger::open({}).value();
    ASSERT_TRUE(ledger.append(ledger.next_epoch(0.1, 1, certification::Spending::kEqual, "test", {}).value()));
    const certification::DeltaLedger::RunRequest request{"candidate", "reference", {}, "rule"};
    ASSERT_TRUE(ledger.append(ledger.next_registration(request, {}).value()));
    const auto impacts = vault_impacts(ledger.ticket(request).value(), vault, champion, champion);
    for (size_t i = 0; i < kRows; ++i) {
        ASSERT_EQ(decisions.has_impact[i] == 1, vault.rows[i].impact.has_value());
        ASSERT_EQ(std::isnan(impacts[i]), !vault.rows[i].impact.has_value());
    }
}

/// Points that an approval of the row is expected to bring, by the generating model.
double expected_points(std::span<const float> row) {
    const double p = model::sigmoid(1.0 + 1.5 * row[0]);
    return 75 * p - 150 * (1 - p);
}

TEST(GateInputs, CentresComeFromARegressionOfDcOnly) {
    auto development = development_set();
    const auto champion = bootstrap(development);
    training_set::VaultSet vault;
    vault.schema = development.schema;
    vault.rows.assign(development.rows.end() - 500, development.rows.end());
    vault.features.assign(development.features.end() - 1000, development.features.end());
    vault.group_names = development.group_names;
    development.rows.resize(kRows - 500);
    development.features.resize(2 * (kRows - 500));
    certification::GateConfig config;
    config.impact_lo = -150, config.impact_hi = 75, config.declined_impact = 0;
    auto selection = selection_feedback(development, champion, champion).value();
    auto decisions = vault_decisions(vault, champion, champion).value();
    ASSERT_TRUE(add_centres(development, vault, champion, champion, config, selection, decisions));
    ASSERT_EQ(decisions.centres.size(), 500u);
    ASSERT_EQ(selection.decisions.centres.size(), kRows - 500);
    EXPECT_TRUE(ope::validate(decisions));
    double constant = 0, regression = 0, mean = 0;
    for (size_t i = 0; i < 500; ++i) mean += expected_points(vault.features_of(i)) / 500;
    for (size_t i = 0; i < 500; ++i) {
        const double truth = expected_points(vault.features_of(i)), q = decisions.centres[i].approve;
        EXPECT_TRUE(q >= -150 && q <= 75);
        constant += (truth - mean) * (truth - mean);
        regression += (truth - q) * (truth - q);
    }
    EXPECT_LT(regression, 0.2 * constant) << "they follow the features";
    // no outcome of the vault has a part in them, and none of a D_c record in its own
    const auto before = decisions.centres;
    for (auto& row : vault.rows) row.impact.reset();
    const double own = selection.decisions.centres[0].approve;
    for (size_t i = 0; i < selection.impact.size(); ++i) {
        if (selection.decisions.unit_id[i] == selection.decisions.unit_id[0] && !std::isnan(selection.impact[i])) selection.impact[i] = -150;
    }
    ASSERT_TRUE(add_centres(development, vault, champion, champion, config, selection, decisions));
    EXPECT_EQ(selection.decisions.centres[0].approve, own);
    vault.features[0] = std::numeric_limits<float>::quiet_NaN();
    ASSERT_TRUE(add_centres(development, vault, champion, champion, config, selection, decisions));
    EXPECT_NE(decisions.centres[0].approve, before[0].approve) << "an unknown feature counts as its mean";
}

TEST(GateInputs, CategoriesAreReadOneByOne) {
    auto development = development_set();
    development.schema = dataset::FeatureSchema::create({{"x0", dataset::FeatureKind::kNumeric, {}},
                                                         {"job", dataset::FeatureKind::kCategorical, {"a", "b", "c"}}}).value();
    for (size_t i = 0; i < kRows; ++i) {  // not in the order of the codes: b is the best
        const float job = static_cast<float>(i % 3);
        development.features[2 * i + 1] = job;
        auto& row = development.rows[i];
        if (row.approved) row.impact = job == 1 ? 75.0 : -75.0;
    }
    const model::BootstrapLink link{"x0", {{-2, 0.3}, {2, 0.8}}, 0.5};
    const auto champion = model::Policy::create(development.schema, {link}, {}, {}).value();
    training_set::VaultSet vault;
    vault.schema = development.schema;
    vault.rows.assign(development.rows.begin(), development.rows.begin() + 3);
    vault.features.assign(development.features.begin(), development.features.begin() + 6);
    vault.group_names = development.group_names;
    certification::GateConfig config;
    config.impact_lo = -150, config.impact_hi = 75, config.declined_impact = 0;
    auto selection = selection_feedback(development, champion, champion).value();
    auto decisions = vault_decisions(vault, champion, champion).value();
    ASSERT_TRUE(add_centres(development, vault, champion, champion, config, selection, decisions));
    EXPECT_NEAR(decisions.centres[0].approve, -75, 5);
    EXPECT_NEAR(decisions.centres[1].approve, 75, 5);
    EXPECT_NEAR(decisions.centres[2].approve, -75, 5);
}

TEST(GateInputs, AnEpochHasVaultRecordsOfItsOwn) {
    const auto development = development_set();
    training_set::VaultSet vault;
    vault.schema = development.schema;
    vault.rows = development.rows;
    vault.features = development.features;
    const auto later = decided_since(vault, base::TimePoint::from_micros(kRows - 10));
    ASSERT_EQ(later.rows.size(), 10u);
    EXPECT_EQ(later.rows[0].decision, vault.rows[kRows - 10].decision);
    EXPECT_EQ(later.features_of(0)[0], vault.features_of(kRows - 10)[0]);
}

TEST(GateInputs, APolicyThatDoesNotFitTheDeploymentIsRefused) {
    const auto set = development_set();
    const auto blind = bootstrap(set);
    EXPECT_TRUE(check_fits(blind, set.schema, set.cell_names, false));
    const auto other = dataset::FeatureSchema::create({{"x1", dataset::FeatureKind::kNumeric, {}}, {"x0", dataset::FeatureKind::kNumeric, {}}}).value();
    EXPECT_EQ(check_fits(blind, other, set.cell_names, true).error().reason, "other_schema");
    model::LearnedLink link;
    link.ramp = {0.3, 0.5, {0.0, 0.1}, {1.0, 1.0}};
    const auto aware = model::Policy::create(set.schema, {link}, set.cell_names, {}).value();
    EXPECT_TRUE(check_fits(aware, set.schema, set.cell_names, true));
    EXPECT_EQ(check_fits(aware, set.schema, set.cell_names, false).error().reason, "group_blind_deployment");
    EXPECT_EQ(check_fits(aware, set.schema, {"sex=male", "sex=female"}, true).error().reason, "other_groups");
}

class RunStoreTest : public testing::Test {
  protected:
    std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / fmt::format("run_store.{}", ::getpid());
    void SetUp() override { std::filesystem::remove_all(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }
};

TEST_F(RunStoreTest, AStartedRunIsRememberedUntilItIsFinished) {
    StartedRun started;
    started.ordinal = 1;
    started.at = base::TimePoint::from_micros(7);
    started.reference = "reference";
    started.candidate = "candidate";
    started.distilled = true;
    started.figures = {{"rows", "12"}, {"trees", "3"}};
    started.matured = 42;
    {
        auto store = RunStore::open(folder_).value();
        EXPECT_FALSE(store.started().value());
        EXPECT_FALSE(store.served_until().value());
        ASSERT_TRUE(store.start(started));
    }
    auto store = RunStore::open(folder_).value();
    const auto found = store.started().value();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->reference, "reference");
    EXPECT_EQ(found->matured, 42u);
    EXPECT_EQ(found->candidate, "candidate");
    EXPECT_TRUE(found->distilled);
    EXPECT_FALSE(found->on_request);
    EXPECT_EQ(found->figures, started.figures);
    RunRecord record;
    record.ordinal = 1;
    record.at = started.at;
    record.verdict = "REFUSED";
    record.reason = "too_few_units";
    record.message = "say \"more\"";
    record.figures = {{"rows", "12"}};
    ASSERT_TRUE(store.finish(record, true));
    EXPECT_FALSE(store.started().value());
    EXPECT_EQ(store.served_until().value(), started.at);
    const auto runs = store.runs().value();
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(encode(runs[0]), encode(record));
    EXPECT_EQ(store.last_run().value()->message, record.message);
}

TEST_F(RunStoreTest, TheScheduleNeverGoesBackAndOwesNothingToRunsOnRequest) {
    auto store = RunStore::open(folder_).value();
    const auto at = [](int64_t t) { return base::TimePoint::from_micros(t); };
    ASSERT_TRUE(store.serve_until(at(10)));
    ASSERT_TRUE(store.serve_until(at(5)));
    EXPECT_EQ(store.served_until().value(), at(10));
    RunRecord record;
    record.ordinal = 1;
    record.at = at(99);
    ASSERT_TRUE(store.finish(record, false));
    EXPECT_EQ(store.served_until().value(), at(10));
    record.at = at(3);
    ASSERT_TRUE(store.finish(record, true));
    EXPECT_EQ(store.served_until().value(), at(10));
}

TEST(RunRecord, BytesThatAreNoRecordAreDataLoss) {
    const std::string good = encode(RunRecord{.ordinal = 1, .at = {}, .candidate = "c", .reference = "r", .verdict = "CERTIFIED",
                                              .reason = "", .message = "", .certificate = "", .figures = {}, .matured = 3});
    ASSERT_TRUE(decode_run_record(good));
    for (size_t n = 0; n < good.size(); ++n) {
        const auto cut = decode_run_record(good.substr(0, n));
        ASSERT_FALSE(cut) << n;
        EXPECT_EQ(cut.error().code, base::ErrorCode::kDataLoss);
    }
    EXPECT_FALSE(decode_run_record("{}"));
    EXPECT_FALSE(decode_run_record("[]"));
}

}  // namespace
}  // namespace rampart::trainer
