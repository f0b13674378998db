#include "services/rampartd/api/job_routes.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "rampart/decision_log/reasons.hpp"
#include "services/decision_service/routes.hpp"
#include "support/asking.hpp"
#include "support/working_jobs.hpp"

namespace rampart::rampartd {
namespace {

using base::Duration;

const std::string kKind = "erasure";

http::Request preferring(const std::string& value) {
    http::Request request;
    if (!value.empty()) request.headers = {{"Prefer", value}};
    return request;
}

/// How many seconds a request with this header waits, where 10 is the default.
int64_t seconds_for(const std::string& prefer) {
    return wait_of(preferring(prefer), Duration::seconds(10)).micros() / 1'000'000;
}

TEST(WaitOf, IsAsThePreferenceSaysUpToALimit) {
    EXPECT_EQ(seconds_for(""), 10);
    EXPECT_EQ(seconds_for("wait=3"), 3);
    EXPECT_EQ(seconds_for("wait=0"), 0);
    EXPECT_EQ(seconds_for("respond-async"), 0);
    EXPECT_EQ(seconds_for("respond-async, wait=7"), 7);
    EXPECT_EQ(seconds_for("Wait=7 , Respond-Async"), 7);
    EXPECT_EQ(seconds_for("wait=5, wait=7"), 5) << "the first one counts";
    EXPECT_EQ(seconds_for("wait=99999999999"), 60);
    EXPECT_EQ(seconds_for("wait=999999999999999999999999"), 10) << "no number that can be read";
    for (const char* other :
         {"wait=", "wait=-1", "wait=1.5", "wait=x", "return=minimal", ",,", "="})
        EXPECT_EQ(seconds_for(other), 10) << other;
}

class JobRoutesTest : public testing::Test {
  protected:
    http::Response answer(const std::string& work, const std::string& prefer = "") {
        return answers_.answer(preferring(prefer), kKind, work, 3);
    }
    std::atomic<bool> hold_ = false;
    support::WorkingJobs jobs_{
        kKind, [this](runtime::JobTask& task) -> base::Result<std::string> {
            while (hold_ && !task.stopping()) std::this_thread::yield();
            if (task.request() == "held")
                return base::Error{base::ErrorCode::kFailedPrecondition, "on_hold", "held"};
            if (task.request() == "elsewhere")
                return base::make_error(decision_log::Reason::kNotOwner, "elsewhere");
            return R"({"of":")" + task.request() + "\"}";
        }};
    const JobAnswers answers_{jobs_.queue(), Duration::seconds(60)};
    support::Asking api_{JobRoutes(jobs_.queue())};
};

TEST_F(JobRoutesTest, WhatEndsInTimeIsAnsweredAsIfThereWereNoJob) {
    const auto done = answer("a");
    EXPECT_EQ(done.status, 200);
    EXPECT_EQ(done.body, R"({"of":"a"})");
    const auto refused = answer("held");
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.reason, "on_hold");
    EXPECT_NE(refused.body.find(R"("detail":"held")"), std::string::npos) << refused.body;
    EXPECT_EQ(answer("elsewhere").status, 421);
}

TEST_F(JobRoutesTest, AFailureIsAnsweredAsTheRouteSays) {
    const auto failed = [](const base::Error& error) {
        return decision_service::error_answer(error, "https://b.example:8443");
    };
    const auto asked = [&](const std::string& work) {
        return answers_.answer(preferring(""), kKind, work, 3, failed);
    };
    const auto elsewhere = asked("elsewhere");
    EXPECT_EQ(elsewhere.status, 421);
    EXPECT_EQ(elsewhere.header(decision_service::kOwnerHeader), "https://b.example:8443");
    EXPECT_NE(elsewhere.body.find(R"("owner":"https://b.example:8443")"), std::string::npos);
    const auto held = asked("held");
    EXPECT_EQ(held.status, 409);
    EXPECT_EQ(held.header(decision_service::kOwnerHeader), "") << "not misdirected";
    EXPECT_EQ(held.body.find("owner"), std::string::npos);
    EXPECT_EQ(asked("a").status, 200);
}

TEST_F(JobRoutesTest, WhatTakesLongerIsAJobThatCanBeAskedFor) {
    hold_ = true;
    const auto accepted = answer("secret", "respond-async");
    EXPECT_EQ(accepted.status, 202);
    const auto path = std::string(accepted.header("Location"));
    ASSERT_TRUE(path.starts_with("/v1/jobs/")) << path;
    const auto id = path.substr(9);
    EXPECT_NE(accepted.body.find(R"({"job":{"id":")" + id + R"(","kind":"erasure","state":")"),
              std::string::npos)
        << accepted.body;
    EXPECT_NE(accepted.body.find(R"("done":0,"total":3,)"), std::string::npos);
    EXPECT_NE(accepted.body.find(R"("result":null)"), std::string::npos);
    const auto again = answer("secret", "wait=0");
    EXPECT_EQ(again.header("Location"), path) << "the same request";
    EXPECT_EQ(api_.get("/v1/jobs").body.find("secret"), std::string::npos);
    hold_ = false;
    EXPECT_EQ(answer("secret").body, R"({"of":"secret"})");
    const auto found = api_.get(path);
    EXPECT_EQ(found.status, 200);
    EXPECT_NE(found.body.find(R"("state":"done","done":3,"total":3,"times_begun":1)"),
              std::string::npos)
        << found.body;
    EXPECT_NE(found.body.find(R"("error":null,"result":{"of":"secret"}}})"), std::string::npos);
    answer("held");
    const auto all = api_.get("/v1/jobs").body;
    EXPECT_NE(all.find(R"("error":{"code":"failed_precondition","reason":"on_hold")"),
              std::string::npos)
        << all;
    EXPECT_EQ(all.find("result"), std::string::npos) << "only a job alone has its result";
    EXPECT_EQ(api_.said("GET", "/v1/jobs/none"), "404 unknown_job");
    EXPECT_EQ(api_.ask("GET", "/v1/jobs", "", "wrong").status, 401);
    EXPECT_EQ(api_.ask("GET", path, "", "wrong").status, 401);
}

}  // namespace
}  // namespace rampart::rampartd
