#include "rampart/runtime/job_record.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "rampart/base/file.hpp"
#include "rampart/runtime/reasons.hpp"

namespace rampart::runtime {
namespace {

namespace fs = std::filesystem;

JobRecord record() {
    JobRecord one;
    one.id = "00ff";
    one.kind = "erasure";
    one.serial = 7;
    one.phase = JobPhase::kFailed;
    one.done = 2;
    one.total = 3;
    one.begun = 4;
    one.asked_at = base::TimePoint::from_micros(-5);
    one.ended_at = base::TimePoint::from_micros(1'000'001);
    one.request = std::string("a\0b", 3);
    one.kept = "k";
    one.result = "r";
    one.error = base::Error{base::ErrorCode::kFailedPrecondition, "on_hold", "held"};
    return one;
}

TEST(JobRecord, IsReadAsItWasWritten) {
    const auto one = record();
    EXPECT_EQ(decode_job("00ff", encode_job(one)).value(), one);
    JobRecord empty;
    EXPECT_EQ(decode_job("", encode_job(empty)).value(), empty);
    EXPECT_EQ(to_string(JobPhase::kWaiting), "waiting");
    EXPECT_EQ(to_string(JobPhase::kFailed), "failed");
}

TEST(JobRecord, AnyChangeAndAnyCutIsFoundAndNamed) {
    const auto bytes = encode_job(record());
    for (size_t at = 0; at < bytes.size(); ++at) {
        auto changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ 1);
        const auto read = decode_job("00ff", changed);
        ASSERT_FALSE(read) << at;
        EXPECT_TRUE(read.error().is(Reason::kBadJobRecord));
        EXPECT_NE(read.error().message.find("'00ff.job'"), std::string::npos);
        EXPECT_FALSE(decode_job("00ff", bytes.substr(0, at))) << at;
    }
    EXPECT_FALSE(decode_job("00ff", bytes + "x"));
}

TEST(JobRecord, AFolderIsReadInTheOrderOfTheSerials) {
    const auto folder = fs::path(testing::TempDir()) / fmt::format("job_record_{}", ::getpid());
    EXPECT_TRUE(read_jobs(folder).value().records.empty()) << "there is none";
    fs::create_directories(folder);
    auto first = record(), second = record();
    second.id = "0000";
    second.serial = 8;
    for (const auto& one : {first, second})
        ASSERT_TRUE(base::write_file_atomically(folder / job_file(one.id), encode_job(one)));
    ASSERT_TRUE(base::write_file_atomically(folder / "bad.job", "rampart job 1\n"));
    ASSERT_TRUE(base::write_file_atomically(folder / "other", "no job"));
    const auto found = read_jobs(folder).value();
    EXPECT_EQ(found.records, (std::vector<JobRecord>{first, second}));
    ASSERT_EQ(found.unreadable.size(), 1u);
    EXPECT_EQ(found.unreadable[0].first, "bad");
    fs::remove_all(folder);
}

}  // namespace
}  // namespace rampart::runtime
