#include "services/rampartd/person_jobs.hpp"

#include <gtest/gtest.h>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/runtime/job_record.hpp"
#include "rampart/wire/override_json.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;

const data_retention::NamesOfPerson kAnna{domain::PersonId("anna"), {"d-1"}, {"a-1"}};

class PersonJobs : public testing::Test {
  protected:
    PersonJobs() { fs::create_directories(folder_); }
    ~PersonJobs() override { fs::remove_all(folder_); }
    void put(runtime::JobRecord job) {
        job.id = std::string(31, '0') + static_cast<char>('a' + count_++);
        job.serial = static_cast<uint64_t>(count_);
        ASSERT_TRUE(base::write_file_atomically(folder_ / runtime::job_file(job.id),
                                                runtime::encode_job(job)));
    }
    static runtime::JobRecord waiting(const std::string& kind, const std::string& request) {
        runtime::JobRecord job;
        job.kind = kind;
        job.request = request;
        return job;
    }
    std::vector<data_retention::HeldJob> found() const { return jobs_of(folder_, kAnna).value(); }

    const fs::path folder_ =
        fs::path(testing::TempDir()) / ("person_jobs" + base::to_hex(base::random_bytes(8)));
    int count_ = 0;
};

TEST_F(PersonJobs, AnErasureIsThatOfThePersonOrOfAnApplicationOfTheirs) {
    EXPECT_TRUE(found().empty());
    for (const char* who : {R"("person_id":"anna")", R"("person_id":"bert")",
                            R"("application_id":"a-1")", R"("application_id":"a-2")"})
        put(waiting("erasure",
                    fmt::format(R"({{{},"actor":"o","reason":"r","dry_run":false}})", who)));
    put(waiting("candidate", "anna"));
    const auto jobs = found();
    ASSERT_EQ(jobs.size(), 2u);
    EXPECT_NE(jobs[0].request.find("anna"), std::string::npos);
    EXPECT_NE(jobs[1].request.find("a-1"), std::string::npos);
    EXPECT_EQ(jobs[0].state, "waiting");
}

TEST_F(PersonJobs, OfOverridesThoseOfOthersAreLeftOut) {
    const std::vector<domain::Override> both{
        {domain::DecisionId("d-1"), 0, domain::Action::kApprove, "one", "r", base::TimePoint()},
        {domain::DecisionId("d-2"), 0, domain::Action::kApprove, "two", "r", base::TimePoint()}};
    put(waiting(kOverrideJobs, wire::to_json(both)));
    put(waiting(kOverrideJobs, wire::to_json(std::span(both).subspan(1))));
    const auto jobs = found();
    ASSERT_EQ(jobs.size(), 1u);
    EXPECT_NE(jobs[0].request.find("\"one\""), std::string::npos);
    EXPECT_EQ(jobs[0].request.find("two"), std::string::npos);
}

TEST_F(PersonJobs, WhatHasEndedIsFoundByTheIdsInIt) {
    auto done = waiting("erasure", "");
    done.phase = runtime::JobPhase::kDone;
    done.result = R"({"decisions":[{"decision_id":"d-1"}]})";
    put(done);
    done.result = R"({"decisions":[{"decision_id":"d-12"}]})";
    put(done);
    auto failed = waiting("erasure", "");
    failed.phase = runtime::JobPhase::kFailed;
    failed.error = {base::ErrorCode::kFailedPrecondition, "retention", "decision 'd-1' has to"};
    put(failed);
    const auto jobs = found();
    ASSERT_EQ(jobs.size(), 2u);
    EXPECT_FALSE(jobs[0].result.empty());
    EXPECT_FALSE(jobs[1].error.empty());
}

TEST_F(PersonJobs, AnIdThatIsAWordOfAnothersResultOrMessageFindsNothing) {
    auto done = waiting("erasure", "");
    done.phase = runtime::JobPhase::kDone;
    done.result = R"({"decisions":[{"decision_id":"d-2"}],"remains":["d-1"],"d-1":"a-1"})";
    put(done);
    auto failed = waiting("erasure", "");
    failed.phase = runtime::JobPhase::kFailed;
    failed.error = {base::ErrorCode::kFailedPrecondition, "on_hold",
                    "the matter 'on' forbids 'd-1'"};
    put(failed);
    EXPECT_TRUE(found().empty());
    const data_retention::NamesOfPerson words{domain::PersonId("anna"), {}, {"decisions", "on"}};
    EXPECT_TRUE(jobs_of(folder_, words)->empty()) << "an application may have any id";
}

TEST_F(PersonJobs, OneThatCannotBeReadIsNamed) {
    auto done = waiting("erasure", "");
    done.phase = runtime::JobPhase::kDone;
    done.result = "{";
    put(done);
    EXPECT_EQ(jobs_of(folder_, kAnna).error().reason, "bad_job_record");
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    put(waiting("erasure", "no request"));
    EXPECT_EQ(jobs_of(folder_, kAnna).error().reason, "bad_job_record");
    ASSERT_TRUE(base::write_file_atomically(folder_ / runtime::job_file(std::string(32, 'f')),
                                            "no record"));
    const auto error = jobs_of(folder_, kAnna).error();
    EXPECT_EQ(error.code, base::ErrorCode::kDataLoss);
    EXPECT_NE(error.message.find(std::string(32, 'f')), std::string::npos) << error.message;
}

}  // namespace
}  // namespace rampart::rampartd
