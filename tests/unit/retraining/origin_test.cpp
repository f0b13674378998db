// The decisions of a whole store, in the evidence or left out, through the trainer's loop.
#include <gmock/gmock.h>

#include <set>

#include "rampart/certification/certificate_file.hpp"
#include "rampart/joiner/catch_up.hpp"
#include "rampart/privacy/register.hpp"
#include "rampart/retraining/training_loop.hpp"
#include "support/small_node.hpp"

namespace rampart::retraining {
namespace {

using certification::LeftOut;
using certification::Verdict;
using support::day;
using testing::Contains;
using testing::HasSubstr;

const std::string kSalt = "a salt of sixteen bytes or more";
constexpr int kPersons = 1500, kNow = 150;

/// The wall clock, some hours after the run was due.
class FixedClock final : public base::Clock {
  public:
    base::TimePoint now() const override { return day(kNow) + base::Duration::hours(5); }
};

/// A store in which each reason to leave a decision out occurs. The counts are those of the vault.
class OriginTest : public testing::Test {
  protected:
    OriginTest() {
        settings_.gate.config.impact_lo = node_.product.impact.lo;
        settings_.gate.config.impact_hi = node_.product.impact.hi;
        settings_.gate.config.declined_impact = node_.product.impact.declined;
        settings_.gate.config.min_units = 50;
        settings_.gate.config.max_missing_rate = 0.2;
        settings_.gate.config.valid_months = 2;
        settings_.gate.max_age_months = 4;  // from day 30 on
        champion_ = policy(0.5, 0.5);
        candidate_ = policy(0.26, 0.74);
        EXPECT_TRUE(node_.registry->bootstrap_champion(champion_, day(0), "test"));
        list_ = privacy::Register::open(node_.folder() / "register").value();
        builder_ = std::make_unique<training_set::TrainingSetBuilder>(
            training_set::TrainingSetBuilder::create(
                *node_.joiner, node_.product, support::SmallNode::schema(), *node_.attributes,
                kSalt, training_set::LateAttributes::kMissing,
                [] {
                    return std::vector<domain::StoppedPeriod>{
                        {day(61), day(63), domain::StopKind::kRulesOnly, "anna"}};
                })
                .value());
    }
    domain::PolicyId policy(double low, double high) {
        const model::BootstrapLink link{"income", {{0, low}, {10, high}}, 0.5};
        const auto made =
            model::Policy::create(support::SmallNode::schema(), {link}, {}, {}).value();
        return node_.registry->register_model(model::encode_model_file(made), day(0), "test")
            .value();
    }
    /// Logs a decision about the person and, where it was approved, its outcome; returns whether it
    /// is the vault's.
    bool decide(const std::string& name, int person, int on, bool in_window = false,
                const std::string& feature = "income") {
        const bool good = person % 3 != 0, approved = person % 2 == 0;
        auto decision = support::make_decision(name, day(on), approved);
        decision.application.person = domain::PersonId(fmt::format("p-{}", person));
        decision.application.features = {{feature, good ? 10.0 : 0.0}};
        decision.policy = champion_;
        decision.p_exploit = decision.p_approve = decision.propensity = 0.5;
        if (in_window) decision.draw_window = {"loan", 1000, 0};
        const auto record = support::to_record(decision);
        EXPECT_TRUE(node_.log.append("decisions", std::span(&record, 1)));
        if (approved) {
            const auto outcome = support::to_record(
                support::make_outcome(name, "repaid", 0, good ? 1 : 0, day(on + 30)));
            EXPECT_TRUE(node_.log.append("outcomes", std::span(&outcome, 1)));
        }
        return training_set::in_vault(kSalt, decision.application.person);
    }
    void know(int person) {
        const protected_attributes::ProtectedAttributes known{
            domain::PersonId(fmt::format("p-{}", person)),
            day(0),
            {{"sex", person / 2 % 2 == 0 ? "female" : "male"}}};
        EXPECT_TRUE(node_.attributes->put(std::span(&known, 1), day(0)));
    }
    void erase_three() {
        const privacy::PersonTag tag(std::string(privacy::kPersonTagBytes, 't'));
        privacy::PendingErasure erasure{tag, day(100), {{.id = "d-x"}}, {}};
        erasure.records = {
            {.month = "1970-02", .action = "approve", .cell = "sex=male", .records = 3}};
        EXPECT_TRUE(list_->begin(erasure));
        EXPECT_TRUE(list_->finish(tag));
    }
    void damage_one() {
        auto record = support::to_record(support::make_decision("damaged", day(50)));
        record.value = "no decision";
        EXPECT_TRUE(node_.log.append("decisions", std::span(&record, 1)));
    }
    void fill() {
        for (int i = 0; i < kPersons; ++i) {
            if (i >= 20) know(i);
            const int on = 31 + i % 25;
            const bool vault = decide(fmt::format("first{}", i), i, on, i % 10 == 5);
            vault_ += vault;
            in_no_group_ += vault && i < 20;
        }
        for (int i = 0; i < 200; ++i) {
            repeats_ += i % 10 == 5 && decide(fmt::format("repeat{}", i), i, 58, true);
            later_ += i % 10 == 6 && decide(fmt::format("later{}", i), i, 70);
            immature_ += i % 10 == 7 && decide(fmt::format("young{}", i), kPersons + i, 140);
            stopped_ += i % 10 == 8 && decide(fmt::format("stop{}", i), 2 * kPersons + i, 62);
            old_ += i % 10 == 9 && decide(fmt::format("old{}", i), 3 * kPersons + i, 3);
            if (i % 10 == 0) decide(fmt::format("future{}", i), 4 * kPersons + i, kNow + 1);
            if (i % 10 != 4) continue;
            // decided by a node that has another schema file
            const bool vault =
                decide(fmt::format("other{}", i), 5 * kPersons + i, 40, false, "pay");
            ++(vault ? other_schema_ : learnt_aside_);
        }
        erase_three();
        damage_one();
        EXPECT_TRUE(joiner::catch_up(*node_.joiner));
        EXPECT_TRUE(node_.joiner->advance(day(kNow)));
    }
    std::unique_ptr<TrainingLoop> loop() {
        return TrainingLoop::open(node_.folder() / "trainer", settings_,
                                  {node_.product,
                                   *node_.joiner,
                                   *builder_,
                                   *node_.registry,
                                   key_,
                                   "a secret of 16 bytes",
                                   nullptr,
                                   {},
                                   list_.get(),
                                   &clock_,
                                   "rampart of a test"})
            .value();
    }
    certification::Certificate certificate() const {
        const auto stored = node_.registry->certificates().value();
        EXPECT_EQ(stored.size(), 1u);
        const auto file = node_.registry->certificate_file(stored.back().id).value();
        const auto evidence = node_.registry->evidence_file(*stored.back().evidence).value();
        return certification::verify(file, evidence, key_.public_key()).value();
    }

    support::SmallNode node_;
    const base::SigningKey key_ = base::SigningKey::generate();
    const FixedClock clock_;
    TrainingSettings settings_;
    domain::PolicyId champion_, candidate_;
    std::unique_ptr<privacy::Register> list_;
    std::unique_ptr<training_set::TrainingSetBuilder> builder_;
    size_t vault_ = 0, repeats_ = 0, later_ = 0, immature_ = 0, stopped_ = 0, old_ = 0;
    size_t in_no_group_ = 0, other_schema_ = 0, learnt_aside_ = 0;
};

TEST_F(OriginTest, EveryDecisionOfTheVaultIsInTheEvidenceOrLeftOutForOneReason) {
    fill();
    const auto run = loop()->certify(candidate_, day(kNow), "", "anna").value();
    ASSERT_EQ(run.verdict, Verdict::kCertified) << run.message;
    const auto read = certificate();
    const auto& id = read.plan.identity;
    EXPECT_EQ(read.evidence_records, vault_);
    EXPECT_EQ(id.in_no_group, in_no_group_);
    EXPECT_EQ(id.decisions,
              vault_ + repeats_ + later_ + immature_ + stopped_ + old_ + other_schema_ + 3 + 1);
    std::map<std::string, size_t> all;
    for (const LeftOut& one : id.left_out)
        if (one.group.empty()) all[one.reason] = one.records;
    const std::map<std::string, size_t> expected{
        {"repeat", repeats_},    {"later_record", later_},
        {"immature", immature_}, {"stopped", stopped_},
        {"too_old", old_},       {"erased", 3},
        {"quarantined", 1},      {"other_schema", other_schema_}};
    EXPECT_EQ(all, expected);
    for (const auto& [reason, records] : all) EXPECT_GT(records, 0u) << reason;
    EXPECT_THAT(id.left_out, Contains(LeftOut{"erased", "sex=male", 3}));
    EXPECT_THAT(id.left_out, Contains(LeftOut{"immature", "unknown", immature_}));
    EXPECT_THAT(id.left_out, Contains(LeftOut{"other_schema", "unknown", other_schema_}));
    EXPECT_THAT(run.figures.at(kRowsRead),
                HasSubstr(fmt::format("; {} decisions, of either side, are of another schema file "
                                      "and set aside; the node's log has why",
                                      learnt_aside_ + other_schema_)));
    EXPECT_EQ(run.figures.at(kRowsRead).find("d-other"), std::string::npos)
        << "with the certificate's number it would show the side of its person";
    EXPECT_EQ(read.plan.unexplained, other_schema_);
    EXPECT_EQ(read.plan.unreadable, 1u);
    EXPECT_EQ(read.plan.erased, 3 + other_schema_ + 1);
    EXPECT_EQ(id.proposed_by, "anna");
    EXPECT_EQ(id.software, "rampart of a test");
    ASSERT_EQ(id.loggers.size(), 1u);
    EXPECT_EQ(id.loggers[0].id, champion_.value());
    EXPECT_EQ(id.loggers[0].first, day(31));
    EXPECT_EQ(id.loggers[0].last, day(55));
    EXPECT_EQ(read.issued_wall_clock, clock_.now());
    EXPECT_EQ(read.valid_until, base::add_months(day(kNow), 2));
    const auto champion = node_.registry->champion().value();
    EXPECT_EQ(champion.policy, candidate_);
    EXPECT_EQ(champion.actor, "anna") << "who promoted";
    EXPECT_EQ(champion.at, clock_.now()) << "the switch, not when the run was due";
    EXPECT_EQ(node_.registry->champion_certified_until().value(), read.valid_until);
}

}  // namespace
}  // namespace rampart::retraining
