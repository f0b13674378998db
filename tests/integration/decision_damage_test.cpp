// A damaged index of decisions: of one partition, made anew from the log while the others decide.
#include <atomic>
#include <thread>

#include "decision_service_fixture.hpp"
#include "rampart/base/file.hpp"
#include "rampart/storage/writable.hpp"
#include "support/damage.hpp"

namespace rampart::serving::tests {
namespace {

using streaming::PartitionId;
using test_support::Damage;

constexpr int kApplications = 6000;  // more of each partition than the first reading takes
const PartitionId kDamaged(1);

class DecisionDamage : public DecisionServiceTest {
  protected:
    void SetUp() override {
        DecisionServiceTest::SetUp();
        set_policy(constant(0.5));
        for (int i = 0; i < kApplications; i += 500) {
            const auto decisions = service_->decide(applications(i, i + 500));
            ASSERT_TRUE(decisions) << decisions.error().message;
            before_.insert(before_.end(), decisions->begin(), decisions->end());
        }
    }
    fs::path index() const { return folder_ / "partitions" / "1" / "decisions"; }
    void damage(Damage kind) {
        service_.reset();
        test_support::damage_table(index(), kind);
        open();
        set_policy(constant(0.1));  // who is decided anew is mostly decided otherwise
    }
    /// The n-th application, before the damage, of the partition or of another one.
    const Decision& decided(bool of_damaged, size_t n = 0) const {
        for (const auto& one : before_) {
            const bool is = service_->partition_of(one.application.id) == kDamaged;
            if (is == of_damaged && n-- == 0) return one;
        }
        ADD_FAILURE();
        return before_.front();
    }
    /// Decides again until something meets the damage.
    void meet_damage() {
        for (size_t n = 0; n < 2000 && service_->all_whole(); ++n) {
            static_cast<void>(service_->find(decided(true, n).id));
        }
        ASSERT_FALSE(service_->all_whole()) << "nothing has met the damage";
    }
    void expect_refused_here_and_decided_elsewhere() {
        const auto& here = decided(true);
        EXPECT_EQ(decide_error({here.application}).reason, "partition_rebuilding");
        EXPECT_EQ(decide_error({here.application}).code, base::ErrorCode::kUnavailable);
        EXPECT_EQ(service_->find(here.id).error().reason, "partition_rebuilding");
        const domain::Outcome outcome{here.id, "repaid", 0, 1, time("2005-04-02"), false};
        EXPECT_EQ(service_->submit_outcomes({&outcome, 1}).error().reason, "partition_rebuilding");
        const auto& elsewhere = decided(false);
        EXPECT_EQ(decide(elsewhere.application), elsewhere);
        EXPECT_EQ(service_->find(elsewhere.id).value(), elsewhere);
        for (int i = kApplications + next_new_;; ++i) {
            const auto fresh = application(i);
            if (service_->partition_of(fresh.id) == kDamaged) {
                EXPECT_EQ(decide_error({fresh}).reason, "partition_rebuilding");
                continue;
            }
            EXPECT_EQ(decide(fresh).application, fresh);
            next_new_ = i - kApplications + 1;
            break;
        }
        EXPECT_TRUE(storage::all_writable());
    }
    int mend() {
        int turns = 1;
        while (service_->mend()) ++turns;
        return turns;
    }
    void expect_made_anew() {
        EXPECT_TRUE(service_->all_whole());
        for (size_t i = 0; i < before_.size(); i += 500) {
            std::vector<Application> again;
            for (size_t k = i; k < i + 500; ++k) again.push_back(before_[k].application);
            const auto decisions = service_->decide(again);
            ASSERT_TRUE(decisions) << decisions.error().message;
            for (size_t k = 0; k < 500; ++k) EXPECT_EQ((*decisions)[k], before_[i + k]);
        }
        EXPECT_TRUE(fs::exists(index().string() + ".damaged-1"));
        EXPECT_EQ(service_->index_of(kDamaged)->check().value(), std::vector<std::string>{});
    }
    double metric(const std::string& name) {
        const std::string line = name + "{database=\"decisions\"} ";
        const auto text = metrics_.prometheus_text();
        const auto at = text.find(line);
        return at == std::string::npos ? -1 : std::stod(text.substr(at + line.size()));
    }

    std::vector<Decision> before_;
    int next_new_ = 0;
};

TEST_F(DecisionDamage, AnIndexIsRebuiltFromTheLogWhileTheOthersDecide) {
    for (const auto kind : {Damage::kMostOfATable, Damage::kOneByte}) {
        damage(kind);
        meet_damage();
        expect_refused_here_and_decided_elsewhere();
        EXPECT_TRUE(service_->mend()) << "a turn does not do it all";
        EXPECT_EQ(metric("rampart_partitions_rebuilding"), 1);
        expect_refused_here_and_decided_elsewhere();
        EXPECT_GT(mend(), 3);
        EXPECT_EQ(metric("rampart_partitions_rebuilding"), 0);
        expect_made_anew();
        service_.reset();
        fs::remove_all(index().string() + ".damaged-1");
    }
    EXPECT_EQ(metric("rampart_databases_set_aside_total"), 2);
}

TEST_F(DecisionDamage, AfterARestartItGoesOnWhereItWasAndDecidesNothingBefore) {
    damage(Damage::kMostOfATable);
    meet_damage();
    EXPECT_TRUE(service_->mend());
    open();  // what is there is a part of the log
    set_policy(constant(0.1));
    expect_refused_here_and_decided_elsewhere();
    // as if killed between the renaming and the new one
    service_.reset();
    fs::remove_all(index());
    open();
    set_policy(constant(0.1));
    expect_refused_here_and_decided_elsewhere();
    mend();
    expect_made_anew();
}

TEST_F(DecisionDamage, CompactionThatMeetsItStopsNothing) {
    damage(Damage::kMostOfATable);
    EXPECT_FALSE(service_->index_of(kDamaged)->compact_erased());
    expect_refused_here_and_decided_elsewhere();
    mend();
    expect_made_anew();
}

TEST_F(DecisionDamage, ItIsFoundUnderLoadAndEveryAnswerIsTheDecisionOrToAskAgain) {
    damage(Damage::kMostOfATable);
    std::atomic<bool> stop{false};
    std::atomic<int> decided{0}, refused{0};
    std::vector<std::thread> clients;
    for (size_t client = 0; client < 3; ++client) {
        clients.emplace_back([&, client] {
            for (size_t i = client; !stop; i = (i + 3) % before_.size()) {
                const auto again = service_->decide({&before_[i].application, 1});
                if (again) {
                    EXPECT_EQ(again->front(), before_[i]);
                    ++decided;
                } else {
                    EXPECT_EQ(again.error().code, base::ErrorCode::kUnavailable)
                        << again.error().message;
                    ++refused;
                }
            }
        });
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (metric("rampart_databases_set_aside_total") < 1 || !service_->all_whole()) {
        service_->mend();
        if (std::chrono::steady_clock::now() > deadline) break;
    }
    stop = true;
    for (auto& client : clients) client.join();
    EXPECT_GT(decided, 0);
    EXPECT_GT(refused, 0);
    expect_made_anew();
}

TEST_F(DecisionDamage, WithoutTheLogsBeginningItIsRefusedByNameAndTheOthersDecide) {
    damage(Damage::kMostOfATable);
    // the operator had accepted a gap: the index knew what the log does not have
    service_.reset();
    ASSERT_TRUE(base::write_file_atomically(storage::beyond_log_mark(index()), ""));
    open();
    set_policy(constant(0.1));
    meet_damage();
    EXPECT_FALSE(service_->mend());
    const auto& here = decided(true);
    const auto refused = decide_error({here.application});
    EXPECT_EQ(refused.reason, "partition_stopped");
    EXPECT_NE(refused.message.find("backup"), std::string::npos);
    EXPECT_EQ(decide(decided(false).application), decided(false));
    EXPECT_EQ(metric("rampart_partitions_refused"), 1);
    EXPECT_FALSE(fs::exists(index().string() + ".damaged-1"));
    EXPECT_TRUE(health_->report(runtime::Probe::kReady).ok());
    EXPECT_TRUE(health_->report(runtime::Probe::kReady).degraded());
}

TEST_F(DecisionDamage, AnErasureThatItWouldReadOfLaterIsNotLost) {
    damage(Damage::kMostOfATable);
    meet_damage();
    ASSERT_TRUE(service_->mend());
    const auto id = decided(true).id;
    EXPECT_EQ(service_->all_whole().error().reason, "partition_rebuilding");
    ASSERT_TRUE(service_->erase({&id, 1}, clock_.now()));
    mend();
    EXPECT_EQ(service_->find(id).error().reason, "erased");
}

}  // namespace
}  // namespace rampart::serving::tests
