#include "rampart/data_retention/log_retention.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "rampart/base/digest.hpp"
#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"

namespace rampart::data_retention {
namespace {

using streaming::Offset;
using streaming::PartitionId;

struct Asked {
    int drops = 0;
    base::TimePoint now;
    std::optional<Offset> applications, decisions;
};

LogRetention::Deps deps(Asked& asked) {
    return {"applications",
            [](PartitionId partition) -> base::Result<Offset> {
                return Offset(10 + partition.value());
            },
            [&asked](base::TimePoint now,
                     const LogRetention::Needed& needed) -> base::Result<uint64_t> {
                ++asked.drops;
                asked.now = now;
                RAMPART_TRY(asked.applications, needed("applications", PartitionId(3)));
                RAMPART_TRY(asked.decisions, needed("decisions", PartitionId(3)));
                return uint64_t{1};
            }};
}

TEST(LogRetention, KeepsApplicationsUntilTheyAreDecidedAndNothingElse) {
    Asked asked;
    LogRetention retention(base::Duration(), deps(asked));
    ASSERT_TRUE(retention.apply(support::day(7)));
    EXPECT_EQ(asked.now, support::day(7));
    EXPECT_EQ(asked.applications, Offset(13));
    EXPECT_EQ(asked.decisions, std::nullopt);
    ASSERT_TRUE(retention.apply(support::day(8)));
    EXPECT_EQ(asked.drops, 2) << "no period";
}

TEST(LogRetention, IsAppliedTheFirstTimeAndThenOnceAPeriod) {
    Asked asked;
    LogRetention retention(base::Duration::days(1), deps(asked));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(retention.apply(support::day(i)));
    EXPECT_EQ(asked.drops, 1);
}

TEST(LogRetention, SaysWhatFailed) {
    Asked asked;
    auto failing = deps(asked);
    failing.settled = [](PartitionId) -> base::Result<Offset> {
        return base::Error{base::ErrorCode::kUnavailable, "timeout", "no answer"};
    };
    LogRetention retention(base::Duration(), std::move(failing));
    EXPECT_EQ(retention.apply(support::day(1)).error().reason, "timeout");
}

class NoteSealing : public testing::Test {
  protected:
    NoteSealing() { log_.create("decisions", 2); }
    ~NoteSealing() override { std::filesystem::remove_all(folder_); }
    bool clear_after(bool shared, bool seals) {
        EXPECT_TRUE(note_sealing(*list_, log_, "decisions", 2, shared, seals));
        return list_->clear_log().value();
    }
    const std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                          ("sealing" + base::to_hex(base::random_bytes(8)));
    support::MemoryLog log_;
    std::unique_ptr<privacy::Register> list_ = privacy::Register::open(folder_).value();
};

TEST_F(NoteSealing, ALogThatIsSealedFromItsFirstDecisionOnIsNotLookedThrough) {
    EXPECT_FALSE(clear_after(false, true));
    EXPECT_TRUE(clear_after(false, false)) << "for good";
    EXPECT_TRUE(clear_after(false, true));
}

TEST_F(NoteSealing, ALogWithDecisionsOrOtherWritersIsLookedThrough) {
    EXPECT_TRUE(clear_after(true, true));
    const streaming::Record record{"d", "content", {}, {}};
    ASSERT_TRUE(log_.append_to("decisions", PartitionId(1), {&record, 1}));
    EXPECT_TRUE(clear_after(false, true));
}

}  // namespace
}  // namespace rampart::data_retention
