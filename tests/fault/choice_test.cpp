// A run is killed at each of its writes: one that chooses among recipes, one that goes on from the
// champion's trees, one that learns reported impacts. The run after the restart takes the same
// candidate to the gate, registers no second one and pays no second charge: it ends with the bytes
// of an undisturbed run.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <set>

#include "rampart/joiner/catch_up.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/retraining/training_loop.hpp"
#include "support/child.hpp"
#include "support/half_approved.hpp"

namespace {

int syncs_left = -1;  // the process dies in the sync after them; below 0: it lives

int synced() {
    if (syncs_left >= 0 && syncs_left-- == 0) ::kill(::getpid(), SIGKILL);
    return 0;
}

}  // namespace

// In the place of the C library's, also for RocksDB: a process that is killed loses no write, so
// that nothing has to reach the disk.
extern "C" int fsync(int) { return synced(); }
extern "C" int fdatasync(int) { return synced(); }

namespace rampart::retraining {
namespace {

namespace fs = std::filesystem;
using support::day;

constexpr int kPersons = 1000, kNow = 150;

/// What a run does that is killed.
enum class Kind { kChooses, kGoesOn, kLearnsImpacts };

/// What is seen of a store, for the parent.
struct Seen {
    bool chosen = false, closed = false, promoted = false, finished = false;
    uint64_t models = 0, charges = 0, certificates = 0;
    char choice[64] = {}, everything[65] = {};  // the last run's recipe, start or label
    /// Returns the name of the step that a crash left undone, of a run behind `earlier` others.
    std::string undone(uint64_t earlier) const {
        if (finished) return "nothing";
        if (promoted) return "end of the run";
        if (closed) return "promotion";
        if (certificates > earlier) return "closing of the run";
        if (charges > earlier) return "certificate";
        if (chosen) return "charge";
        if (models > 1 + earlier) return "choice, durable";
        return "candidate, registered";
    }
};

training::Recipe recipe(const std::string& name, int64_t trees) {
    training::Recipe out;
    out.name = name;
    out.options = learning::OptionValues(learning::find_learner("gbdt").value()->options());
    EXPECT_TRUE(out.options.set("trees", trees));
    return out;
}

std::vector<training::Recipe> recipes(Kind kind) {
    if (kind == Kind::kChooses) return {recipe("few", 5), recipe("more", 20)};
    auto one = recipe("", 8);
    if (kind == Kind::kGoesOn) {
        one.start = training::Start::kChampion;
        one.more_trees = 4;
        return {one};
    }
    one.learner = "regression-trees";
    one.options = learning::OptionValues(learning::find_learner(one.learner).value()->options());
    one.label = training::Label::kImpact;
    one.selection = training::Selection::kNone;
    return {one};
}

/// A store in a folder, made again by each process: a champion approves half of all, and those with
/// an income of 10 repay.
class Store {
  public:
    Store(const fs::path& folder, Kind kind) {
        const bool impacts = kind == Kind::kLearnsImpacts;
        if (impacts) product_.impact.measure = "score";
        log_.create("decisions", 1);
        log_.create("outcomes", 1);
        auto catalog =
            protected_attributes::AttributeCatalog::create({{"sex", {"female", "male"}}}, true);
        attributes_ =
            protected_attributes::ProtectedStore::open(folder / "attributes", *catalog).value();
        joiner_ =
            joiner::OutcomeJoiner::open(folder / "joins", {.product = product_}, log_).value();
        registry_ = registry::ModelRegistry::open(folder / "models").value();
        champion_ = support::approve_half(*registry_);
        for (int i = 0; i < kPersons; ++i)
            support::append_person(
                log_, *attributes_, champion_, i, i % 3 != 0 ? 10 : 0, i % 3 != 0,
                impacts ? std::optional(i % 3 != 0 ? 20.0 : -90.0) : std::nullopt);
        EXPECT_TRUE(joiner::catch_up(*joiner_));
        EXPECT_TRUE(joiner_->advance(day(kNow)));
        builder_ = std::make_unique<training_set::TrainingSetBuilder>(
            training_set::TrainingSetBuilder::create(*joiner_, product_, schema(), *attributes_,
                                                     "a salt of sixteen bytes or more")
                .value());
        TrainingSettings settings;
        settings.recipes = recipes(kind);
        settings.choice_folds = 2;
        settings.schedule.min_examples = 0;
        auto& config = settings.gate.config;
        config.impact_lo = product_.impact.lo;
        config.impact_hi = product_.impact.hi;
        config.declined_impact = product_.impact.declined;
        config.max_missing_rate = 0.2;
        loop_ = TrainingLoop::open(folder / "trainer", std::move(settings),
                                   {product_, *joiner_, *builder_, *registry_, key_,
                                    "a secret of 16 bytes", nullptr})
                    .value();
    }
    /// Begins the run behind `earlier` others, or takes it up again.
    void run(uint64_t earlier) {
        EXPECT_TRUE(loop_->finish_started());
        if (loop_->runs()->size() == earlier) {
            EXPECT_TRUE(loop_->run_at(day(kNow)));
        }
    }
    TrainingLoop& loop() { return *loop_; }
    registry::ModelRegistry& registry() { return *registry_; }

  private:
    static dataset::FeatureSchema schema() {
        return dataset::FeatureSchema::create({{"income", dataset::FeatureKind::kNumeric, {}}})
            .value();
    }
    domain::Product product_ = support::two_measure_product();
    support::MemoryLog log_;
    std::unique_ptr<protected_attributes::ProtectedStore> attributes_;
    std::unique_ptr<joiner::OutcomeJoiner> joiner_;
    std::unique_ptr<registry::ModelRegistry> registry_;
    std::unique_ptr<training_set::TrainingSetBuilder> builder_;
    const base::SigningKey key_ = base::SigningKey::from_raw(std::string(32, 'k')).value();
    domain::PolicyId champion_;
    std::unique_ptr<TrainingLoop> loop_;
};

/// Looks at the store as it lies there, without taking anything up.
Seen look(const fs::path& folder, uint64_t earlier) {
    Seen seen;
    std::string all;
    const auto registry =
        registry::ModelRegistry::open(folder / "models", registry::ModelRegistry::Mode::kReadOnly)
            .value();
    const auto models = registry->models().value();
    for (const auto& model : models) all += model.id.value() + " ";
    seen.models = models.size();
    seen.certificates = registry->certificates()->size();
    seen.promoted = registry->promotions().size() > 1 + earlier;
    const auto entries = registry->ledger_entries().value();
    const auto ledger = certification::DeltaLedger::open(entries).value();
    seen.charges = ledger.epoch() == 0 ? 0 : static_cast<uint64_t>(ledger.runs_used());
    seen.closed = seen.charges > earlier && !ledger.open_run();
    const auto store = RunStore::open(folder / "trainer", true).value();
    if (const auto started = store.started().value()) {
        seen.chosen = !started->candidate.empty();
    }
    const auto runs = store.runs().value();
    seen.finished = runs.size() > earlier;
    for (const auto& run : runs) {
        all += encode(run);
        for (const char* figure : {"choice", "started_from", "label"})
            if (const auto it = run.figures.find(figure); it != run.figures.end())
                it->second.copy(seen.choice, sizeof seen.choice - 1);
    }
    for (const auto& entry : entries) all += entry;
    const auto audit = registry->audit_entries().value();
    for (const auto& entry : audit) all += registry::encode(entry);
    base::sha256(all).hex().copy(seen.everything, 64);
    return seen;
}

/// Kills the run behind `earlier` undisturbed ones at each of its writes.
void kill_at_each_write(Kind kind, uint64_t earlier, Seen& calm) {
    const auto folder = fs::path(testing::TempDir()) /
                        fmt::format("choice_test.{}.{}", ::getpid(), static_cast<int>(kind));
    const auto at = [&](const char* name) { return folder / name; };
    test_support::Shared<Seen> before, after;
    const auto resume = [&](const fs::path& store) {
        return test_support::in_child([&] {
            *before = look(store, earlier);
            Store(store, kind).run(earlier);
            *after = look(store, earlier);
        });
    };
    ASSERT_EQ(test_support::in_child([&] {
                  Store store(at("begin"), kind);
                  for (uint64_t run = 0; run < earlier; ++run) store.run(run);
              }),
              0);
    fs::copy(at("begin"), at("calm"), fs::copy_options::recursive);
    ASSERT_EQ(resume(at("calm")), 0);
    calm = *after;
    ASSERT_EQ(calm.models, 2 + earlier);
    ASSERT_EQ(calm.charges, 1 + earlier);
    ASSERT_TRUE(calm.promoted) << "a run that goes all the way";
    std::set<std::string> undone;
    int kills = 0;
    for (bool killed = true; killed; ++kills) {
        ASSERT_LT(kills, 200);
        fs::remove_all(at("wild"));
        fs::copy(at("begin"), at("wild"), fs::copy_options::recursive);
        const int ended = test_support::in_child([&] {
            Store store(at("wild"), kind);
            syncs_left = kills;
            store.run(earlier);
            syncs_left = -1;
        });
        killed = ended == 128 + SIGKILL;
        ASSERT_TRUE(killed || ended == 0) << ended;
        ASSERT_EQ(resume(at("wild")), 0);
        const auto step = before->undone(earlier);
        undone.insert(step);
        ASSERT_EQ(after->models, 2 + earlier) << kills << ": " << step;
        ASSERT_EQ(after->charges, 1 + earlier) << kills << ": " << step;
        ASSERT_STREQ(after->choice, calm.choice) << kills << ": " << step;
        ASSERT_STREQ(after->everything, calm.everything) << kills << ": " << step;
    }
    EXPECT_EQ(undone, (std::set<std::string>{"candidate, registered", "choice, durable", "charge",
                                             "certificate", "closing of the run", "promotion",
                                             "end of the run", "nothing"}))
        << "after " << kills << " kills";
    fs::remove_all(folder);
}

TEST(RunWithSeveralRecipes, KilledAtEachWriteTakesTheSameChoiceWithOneCandidateAndOneCharge) {
    Seen calm;
    kill_at_each_write(Kind::kChooses, 0, calm);
}

/// The run goes on from the candidate that the one before has promoted, and its test is planned
/// from the same persons held out.
TEST(RunFromTheChampion, KilledAtEachWriteAddsToTheSameTreesWithOneCandidateAndOneCharge) {
    Seen calm;
    kill_at_each_write(Kind::kGoesOn, 1, calm);
    EXPECT_NE(std::string(calm.choice), "");
    EXPECT_FALSE(std::string(calm.choice).starts_with("scratch")) << calm.choice;
}

TEST(RunOfReportedImpacts, KilledAtEachWriteTakesTheSameCandidateWithOneCharge) {
    Seen calm;
    kill_at_each_write(Kind::kLearnsImpacts, 0, calm);
    EXPECT_STREQ(calm.choice, "impact, -150 to 75 points");
}

}  // namespace
}  // namespace rampart::retraining
