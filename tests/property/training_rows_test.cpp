// Training sets, read from the rows of the index by time, against their definition: decisions and
// examples as the joined states have them. Random histories with corrections, overrides, referrals,
// erasures, stopped periods, restarts and records that come in any order.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "rampart/base/bytes.hpp"
#include "rampart/base/random.hpp"
#include "rampart/decision/encode.hpp"
#include "rampart/training_set/training_set_builder.hpp"
#include "rampart/wire/record_codec.hpp"
#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"

namespace rampart::training_set {
namespace {

namespace fs = std::filesystem;
using base::TimePoint;
using support::day;

const std::string kSalt = "a salt of sixteen bytes or more";
constexpr size_t kPersons = 12, kDecisions = 60;
constexpr int64_t kDays = 120;  // in which decisions are made

dataset::FeatureSchema schema() {
    return dataset::FeatureSchema::create(
               {{"income", dataset::FeatureKind::kNumeric, {}},
                {"job", dataset::FeatureKind::kCategorical, {"nurse", "cook"}},
                {"debt", dataset::FeatureKind::kNumeric, {}}})
        .value();
}

/// The schema in which an application need give none of the features.
dataset::ServedSchema served() {
    const std::vector<dataset::FeatureTerms> terms(3, {std::monostate(), {}, false, {}});
    return dataset::ServedSchema::create(schema(), terms).value();
}

/// A feature of another schema file.
const std::string kUnknown = "shoe size";

bool is_explained(const domain::Decision& decision) {
    const auto& features = decision.application.features;
    return std::none_of(features.begin(), features.end(),
                        [](const auto& feature) { return feature.name == kUnknown; });
}

struct Event {
    TimePoint time;
    bool decision = false;
    streaming::Record record;
};

/// A made-up lender with one product. The label is the impact, or another measure is.
class History {
  public:
    explicit History(uint64_t seed) : random_(seed) {
        folder_ = fs::path(testing::TempDir()) / fmt::format("rows_{}_{}", ::getpid(), seed);
        fs::remove_all(folder_);
        log_.create("decisions", 2);
        log_.create("outcomes", 2);
        if (random_.bernoulli(0.7)) product_.impact.measure = "score";
        auto catalog = protected_attributes::AttributeCatalog::create(
            {{"sex", {"female", "male"}}, {"age", {"young", "old"}}}, true);
        store_ =
            protected_attributes::ProtectedStore::open(folder_ / "attributes", *catalog).value();
        for (size_t i = 0; i < kPersons; ++i) {
            if (random_.bernoulli(0.2)) continue;
            know(i, {{"sex", pick("female", "male")}, {"age", pick("young", "old")}});
            if (random_.bernoulli(0.3)) know(i, {{"sex", pick("female", "male")}});
        }
        for (size_t i = 0; i < kDecisions; ++i) decide(i);
        if (random_.bernoulli(0.5))
            stops_ = {{day(20), day(35), domain::StopKind::kExplorationOff, "test"}};
        open();
        play();
    }
    ~History() {
        joiner_.reset();
        store_.reset();
        fs::remove_all(folder_);
    }

    base::Random& random() { return random_; }
    const joiner::OutcomeJoiner& joiner() const { return *joiner_; }
    const protected_attributes::ProtectedStore& store() const { return *store_; }
    const domain::Product& product() const { return product_; }
    const std::vector<domain::StoppedPeriod>& stops() const { return stops_; }
    LateAttributes late() const { return late_; }
    TrainingSetBuilder builder() const {
        return TrainingSetBuilder::create(*joiner_, product_, served(), *store_, kSalt, late_,
                                          [this] { return stops_; })
            .value();
    }

  private:
    std::string pick(const char* one, const char* other) {
        return random_.bernoulli(0.5) ? one : other;
    }
    TimePoint after(TimePoint time, uint64_t most_hours) {
        return time + base::Duration::hours(static_cast<int64_t>(random_.below(most_hours)));
    }
    void know(size_t person, std::map<std::string, std::string> attributes) {
        const auto at = after(day(0), 24 * kDays);
        const protected_attributes::ProtectedAttributes one{
            domain::PersonId(fmt::format("p-{}", person)), at, std::move(attributes)};
        EXPECT_TRUE(store_->put(std::span(&one, 1), at));
    }
    std::vector<domain::Feature> features() {
        std::vector<domain::Feature> out;
        if (random_.bernoulli(0.9)) out.push_back({"income", random_.uniform(0, 100)});
        if (random_.bernoulli(0.1)) out.push_back({kUnknown, 43.0});
        if (random_.bernoulli(0.8)) out.push_back({"job", pick("cook", "pilot")});
        if (random_.bernoulli(0.3)) out.push_back({"debt", std::monostate()});
        return out;
    }
    void decide(size_t i) {
        const auto name = fmt::format("{}", i);
        const auto time = after(day(0), 24 * kDays);
        auto decision = support::make_decision(name, time, random_.bernoulli(0.6));
        decision.application.person =
            domain::PersonId(fmt::format("p-{}", random_.below(kPersons)));
        decision.application.features = features();
        decision.decided_at = after(time, 200);
        decision.policy = domain::PolicyId(std::string(64, pick("a", "b")[0]));
        decision.exploration_spent = random_.bernoulli(0.2);
        if (random_.bernoulli(0.2)) {
            decision.action = domain::Action::kRefer;
            decision.p_refer = 0.5;
            decision.draw = 0.5;
            decision.propensity = 0.5;
        }
        if (random_.bernoulli(0.8))
            decision.draw_window = {"loan", 30, domain::window_number(decision.decided_at, 30, {})};
        events_.push_back({decision.decided_at, true, support::to_record(decision)});
        for (const auto* measure : {"repaid", "score"}) report(name, measure, time);
        for (uint32_t revision = 0; revision < 2; ++revision) {
            if (random_.bernoulli(0.7)) continue;
            const domain::Override taken{
                decision.id,
                revision,
                random_.bernoulli(0.5) ? domain::Action::kApprove : domain::Action::kDecline,
                "a",
                "r",
                after(time, 2000)};
            events_.push_back({taken.at, false, wire::to_record(taken)});
        }
        if (random_.bernoulli(0.9)) return;
        const domain::Erasure erasure{decision.id, after(time, 4000)};
        events_.push_back({erasure.at, true, wire::to_record(erasure)});
    }
    void report(const std::string& name, const char* measure, TimePoint decided) {
        for (uint32_t revision = 0; revision < 3; ++revision) {
            if (random_.bernoulli(0.5)) continue;
            const double value = random_.bernoulli(0.5) ? 1 : 0;
            auto outcome =
                support::make_outcome(name, measure, revision, value, after(decided, 2400));
            outcome.censored = random_.bernoulli(0.2);
            if (outcome.censored) outcome.value = 0;
            events_.push_back({outcome.observed_at, false, support::to_record(outcome)});
        }
    }
    void open() {
        joiner_.reset();
        joiner_ = joiner::OutcomeJoiner::open(folder_ / "joins",
                                              {.product = product_, .partitions = 2}, log_)
                      .value();
    }
    void play() {
        const auto by_time = [](auto& a, auto& b) { return a.time < b.time; };
        std::stable_sort(events_.begin(), events_.end(), by_time);
        for (size_t i = 0; i + 1 < events_.size(); ++i)  // some change their places
            if (random_.bernoulli(0.2)) std::swap(events_[i], events_[random_.below(i + 1)]);
        TimePoint clock = day(0);
        for (const auto& event : events_) {
            EXPECT_TRUE(log_.append(event.decision ? "decisions" : "outcomes",
                                    std::span(&event.record, 1)));
            clock = std::max(clock, event.time);
            bool done = true;
            if (random_.bernoulli(0.2)) done = joiner_->poll(1 + random_.below(9)).has_value();
            if (random_.bernoulli(0.05)) done &= joiner_->advance(clock).has_value();
            EXPECT_TRUE(done);
            if (random_.bernoulli(0.02)) open();
        }
        while (joiner_->poll(1 + random_.below(50))->records > 0) continue;
        EXPECT_TRUE(joiner_->advance(day(kDays + 100)));
    }

    base::Random random_;
    fs::path folder_;
    domain::Product product_ = support::two_measure_product();
    support::MemoryLog log_;
    std::vector<Event> events_;
    std::vector<domain::StoppedPeriod> stops_;
    LateAttributes late_ = LateAttributes::kMissing;
    std::unique_ptr<protected_attributes::ProtectedStore> store_;
    std::unique_ptr<joiner::OutcomeJoiner> joiner_;
};

/// The definition of a set, from decisions and examples alone.
class Definition {
  public:
    Definition(const History& history, TimePoint t) : history_(history), t_(t) {
        const auto& joiner = history.joiner();
        EXPECT_TRUE(joiner.decisions(base::kFirstTime, base::kLastTime, [&](const auto& one) {
            decisions_.push_back(one);
            return base::ok();
        }));
        labels_ = examples(history.product().label.name);
        if (reported()) impacts_ = examples(*history.product().impact.measure);
    }

    /// Compares a set of a side with what it has to be.
    template <class Side>
    void compare(const DecisionSet<Side>& set, bool vault, std::optional<TimePoint> from) const {
        std::vector<Row> rows;
        std::vector<float> features;
        std::vector<std::string> identities;
        std::vector<std::tuple<TimePoint, Omission, std::vector<uint32_t>>> stopped, others;
        size_t known = 0, unexplained = 0;
        std::vector<Row> aside;
        for (const auto& decision : decisions_) {
            const auto event_time = decision.application.event_time;
            const bool too_old = from && event_time < *from;
            unexplained += !too_old && has_matured(decision, vault) && !is_explained(decision) &&
                           !domain::is_stopped(history_.stops(), decision.decided_at);
            if (in_vault(kSalt, decision.application.person) != vault) continue;
            if (too_old || !has_matured(decision, vault)) {
                if (decision.decided_at > t_) continue;
                ++known;
                others.emplace_back(event_time, too_old ? Omission::kTooOld : Omission::kImmature,
                                    membership(decision).groups);
                continue;
            }
            ++known;
            if (domain::is_stopped(history_.stops(), decision.decided_at)) {
                stopped.emplace_back(event_time, Omission::kStopped, membership(decision).groups);
                continue;
            }
            if (!is_explained(decision)) {
                aside.push_back(row_of(decision));
                continue;
            }
            rows.push_back(row_of(decision));
            for (const float value : encoded(decision)) features.push_back(value);
        }
        for (Row& row : rows) row.ordinal = ordinal_of(row, rows, aside);
        if (vault) stopped.insert(stopped.end(), others.begin(), others.end());
        expect_equal(set, rows, features);
        ASSERT_EQ(set.omitted.size(), stopped.size());
        for (size_t i = 0; i < stopped.size(); ++i) {
            const auto& one = set.omitted[i];
            EXPECT_EQ(std::tuple(one.event_time, one.why, one.groups), stopped[i]);
        }
        EXPECT_EQ(set.known, vault ? known : 0);
        EXPECT_EQ(set.unexplained.decisions, unexplained) << "of both sides";
        ASSERT_EQ(set.set_aside.size(), aside.size());
        for (size_t i = 0; i < aside.size(); ++i) {
            EXPECT_EQ(set.set_aside[i].decision, aside[i].decision);
            EXPECT_EQ(set.set_aside[i].groups, aside[i].groups);
            EXPECT_EQ(set.set_aside[i].later, ordinal_of(aside[i], rows, aside) > 0);
        }
        EXPECT_EQ(set.unexplained.why.empty(), unexplained == 0);
        EXPECT_EQ(set.digest, digest_of(set, rows, vault)) << "the same bits";
    }

    /// Returns person and time of the decisions that a visit of the vault has.
    std::vector<std::pair<std::string, TimePoint>> visited() const {
        std::vector<std::pair<std::string, TimePoint>> found;
        for (const auto& one : decisions_)
            if (in_vault(kSalt, one.application.person) && has_matured(one, true) &&
                !domain::is_stopped(history_.stops(), one.decided_at))
                found.emplace_back(one.application.person.value(), one.application.event_time);
        return found;
    }

  private:
    using Examples = std::map<domain::DecisionId, domain::LabeledExample>;
    bool reported() const { return history_.product().impact.measure.has_value(); }
    Examples examples(const std::string& measure) const {
        Examples found;
        EXPECT_TRUE(history_.joiner().examples(measure, t_, [&](const auto& one) {
            found.emplace(one.decision.id, one);
            return base::ok();
        }));
        return found;
    }
    bool has_matured(const domain::Decision& decision, bool vault) const {
        return labels_.contains(decision.id) &&
               (!vault || !reported() || impacts_.contains(decision.id));
    }
    protected_attributes::Membership membership(const domain::Decision& decision) const {
        return history_.store()
            .membership_at(decision.application.person, decision.decided_at)
            .value();
    }
    static std::vector<float> encoded(const domain::Decision& decision) {
        domain::Application fitted = decision.application;
        fitted.features.clear();
        const auto features = schema();
        for (const auto& spec : features.features()) {
            domain::Feature one{spec.name, {}};
            for (const auto& given : decision.application.features)
                if (given.name == spec.name) one = given;
            fitted.features.push_back(one);
        }
        return decision::encode_row(fitted, features).value();
    }
    Row row_of(const domain::Decision& decision) const {
        const auto& example = labels_.at(decision.id);
        const auto groups = membership(decision);
        Row row;
        row.decision = decision.id;
        row.person = decision.application.person;
        row.event_time = decision.application.event_time;
        row.decided_at = decision.decided_at;
        row.window = decision.draw_window;
        row.p_approve = decision.p_approve;
        row.p_refer = decision.p_refer;
        row.exploration_spent = decision.exploration_spent;
        row.policy = decision.policy;
        row.approved = decision.action == domain::Action::kApprove;
        row.referred = decision.action == domain::Action::kRefer;
        const auto taken = example.action_taken();
        row.overridden = taken != decision.action && !row.referred;
        if (taken != decision.action && row.referred)
            row.answer = taken == domain::Action::kApprove;
        row.cell = groups.cell;
        row.groups = groups.groups;
        row.repeat = is_repeat(decision);
        if (!row.granted()) return row;
        row.censored = example.censored;
        row.label = example.value;
        std::optional<double> impact = reported() ? std::nullopt : example.value;
        if (const auto it = impacts_.find(decision.id); it != impacts_.end())
            impact = it->second.value;
        row.impact = domain::impact_of_approval(history_.product().impact, example.value, impact);
        return row;
    }
    bool is_repeat(const domain::Decision& decision) const {
        if (!decision.draw_window) return false;
        return std::any_of(decisions_.begin(), decisions_.end(), [&](const auto& other) {
            return other.draw_window == decision.draw_window &&
                   other.application.person == decision.application.person &&
                   std::tie(other.decided_at, other.id) <
                       std::tie(decision.decided_at, decision.id);
        });
    }
    static uint32_t ordinal_of(const Row& row, const std::vector<Row>& rows,
                               const std::vector<Row>& aside) {
        const auto is_earlier = [&](const Row& other) {
            return other.person == row.person && std::tie(other.decided_at, other.decision) <
                                                     std::tie(row.decided_at, row.decision);
        };
        const auto before = std::count_if(rows.begin(), rows.end(), [&](const Row& other) {
            return is_earlier(other) && !other.repeat;
        });
        return static_cast<uint32_t>(before) +
               (std::any_of(aside.begin(), aside.end(), is_earlier) ? 1 : 0);
    }
    template <class Side>
    static void expect_equal(const DecisionSet<Side>& set, const std::vector<Row>& rows,
                             const std::vector<float>& features) {
        const auto looks = [](const Row& row) {
            return std::tuple(row.decision, row.person, row.event_time, row.decided_at, row.window,
                              row.repeat, row.ordinal, row.p_approve, row.exploration_spent,
                              row.p_refer, row.policy, row.approved, row.overridden, row.referred,
                              row.answer, row.censored, row.label, row.impact, row.cell,
                              row.groups);
        };
        ASSERT_EQ(set.rows.size(), rows.size());
        for (size_t i = 0; i < rows.size(); ++i)
            EXPECT_EQ(looks(set.rows[i]), looks(rows[i])) << rows[i].decision.value();
        ASSERT_EQ(set.features.size(), features.size());
        for (size_t i = 0; i < features.size(); ++i)
            EXPECT_EQ(std::bit_cast<uint32_t>(set.features[i]),
                      std::bit_cast<uint32_t>(features[i]));
    }
    template <class Side>
    base::Digest digest_of(const DecisionSet<Side>& set, const std::vector<Row>& rows,
                           bool vault) const {
        std::vector<std::string> identities;
        for (const Row& row : rows) {
            const auto impact = impacts_.find(row.decision);
            const bool has_impact = impact != impacts_.end();
            std::string out;
            base::append_field(out, row.decision.value());
            base::append_u32(out, labels_.at(row.decision).version);
            base::append_u8(out, has_impact ? 1 : 0);
            base::append_u32(out, has_impact ? impact->second.version : 0);
            base::append_u8(out, row.cell ? 1 : 0);
            base::append_u32(out, row.cell.value_or(0));
            base::append_u32(out, static_cast<uint32_t>(row.groups.size()));
            for (const uint32_t group : row.groups) base::append_u32(out, group);
            const int flags = (row.overridden ? 1 : 0) | (row.censored ? 2 : 0) |
                              (row.referred ? 8 : 0) | (row.answer ? 16 : 0) |
                              (row.answer.value_or(false) ? 32 : 0);
            if (flags != 0) base::append_u8(out, static_cast<uint8_t>(flags));
            if (row.repeat) base::append_u8(out, 4);
            identities.push_back(out);
        }
        std::sort(identities.begin(), identities.end());
        base::Sha256 hash;
        hash.update_field(vault ? "vault" : "development");
        std::string time;
        base::append_i64(time, t_.micros());
        hash.update_field(time);
        hash.update_field(set.schema.digest().hex());
        for (const auto& one : identities) hash.update_field(one);
        return hash.finish();
    }

    const History& history_;
    const TimePoint t_;
    std::vector<domain::Decision> decisions_;  // by event time, then id
    Examples labels_, impacts_;
};

TEST(TrainingRows, AreThoseOfTheDefinitionInEveryHistory) {
    size_t rows = 0, repeats = 0, omitted = 0, corrected = 0, unexplained = 0;
    for (uint64_t seed = 1; seed <= 12; ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        History history(seed);
        EXPECT_EQ(history.joiner().check().value(), std::vector<std::string>());
        const auto builder = history.builder();
        for (int i = 0; i < 4; ++i) {
            const auto t = day(static_cast<int64_t>(history.random().below(kDays + 100)));
            std::optional<TimePoint> from;
            if (i % 2 == 1) from = day(static_cast<int64_t>(history.random().below(kDays)));
            const Definition definition(history, t);
            const auto development = builder.development_rows(t, from).value();
            const auto vault = builder.vault_rows(t, from).value();
            definition.compare(development, false, from);
            definition.compare(vault, true, from);
            std::vector<std::pair<std::string, TimePoint>> visited;
            EXPECT_TRUE(builder.visit_vault(t, [&](std::string_view person, TimePoint time) {
                visited.emplace_back(person, time);
            }));
            EXPECT_EQ(visited, definition.visited());
            unexplained += development.unexplained.decisions + vault.unexplained.decisions;
            rows += development.rows.size() + vault.rows.size();
            repeats += development.repeats + vault.repeats;
            omitted += vault.omitted.size();
        }
        corrected += history.joiner().counts().corrected;
        if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(rows, 300u);
    EXPECT_GT(unexplained, 30u);
    EXPECT_GT(repeats, 60u);
    EXPECT_GT(omitted, 90u);
    EXPECT_GT(corrected, 90u);
}

}  // namespace
}  // namespace rampart::training_set
