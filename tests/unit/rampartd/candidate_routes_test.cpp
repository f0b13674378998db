#include "services/rampartd/api/candidate_routes.hpp"

#include <gtest/gtest.h>

#include "support/working_jobs.hpp"

namespace rampart::rampartd {
namespace {

/// Asks the route, and keeps what it asked for.
class CandidateRoute : public testing::Test {
  protected:
    CandidateRoute() {
        CandidateRoutes(JobAnswers(jobs_.queue(), base::Duration::seconds(60))).add_to(router_);
    }
    http::Response ask(const std::string& query, const std::string& token = "t") {
        http::Request request;
        request.method = "POST";
        request.headers = {{"Authorization", "Bearer " + token}};
        request.body = body_;
        EXPECT_TRUE(http::parse_target("/v1/candidates" + query, request)) << query;
        asked_ = {};
        return router_.handle(std::move(request));
    }
    std::string refusal(const std::string& query) {
        const auto answer = ask(query);
        EXPECT_EQ(answer.status, 400) << query;
        EXPECT_EQ(asked_.model, "") << "it was not asked";
        return answer.body;
    }

    std::string body_ = "a model";
    http::Router router_{access::one_token("t", {"anna", access::Scopes::all()})};
    retraining::ProposalRequest asked_;
    support::WorkingJobs jobs_{
        CandidateRoutes::kCandidate,
        CandidateWork([this](const retraining::ProposalRequest& request)
                          -> base::Result<retraining::Proposed> {
            asked_ = request;
            return base::Error{base::ErrorCode::kFailedPrecondition, "asked", "asked"};
        })};
};

TEST_F(CandidateRoute, OnlyTellsUnlessItIsToSubmit) {
    EXPECT_EQ(ask("").status, 409);
    EXPECT_EQ(asked_.model, "a model");
    EXPECT_FALSE(asked_.submit);
    EXPECT_FALSE(asked_.options.step);
    EXPECT_EQ(asked_.options.plan_steps, 0u);
    ask("?step=0.25&approve_from=0.8&plan=32&submit=true&new_epoch=new%20year");
    EXPECT_EQ(asked_.options.step, 0.25);
    EXPECT_EQ(asked_.options.approve_from, 0.8);
    EXPECT_EQ(asked_.options.plan_steps, 32u);
    EXPECT_TRUE(asked_.submit);
    EXPECT_EQ(asked_.proposed_by, "anna");
    EXPECT_EQ(asked_.new_epoch, "new year");
    ask("?approve_rate=1e-1");
    EXPECT_EQ(asked_.options.approve_rate, 0.1);
}

TEST_F(CandidateRoute, RefusesWhatItDoesNotKnowByName) {
    EXPECT_NE(refusal("?stepp=1").find("stepp"), std::string::npos);
    EXPECT_NE(refusal("?step=half").find("step: 'half'"), std::string::npos);
    for (const char* bad : {"step=inf", "step=0", "step=-1", "approve_from=1", "approve_rate=0"}) {
        EXPECT_NE(refusal(std::string("?") + bad).find("bad_number"), std::string::npos) << bad;
    }
    EXPECT_NE(refusal("?plan=33").find("bad_number"), std::string::npos);
    EXPECT_NE(refusal("?submit=yes").find("bad_flag"), std::string::npos);
    EXPECT_NE(refusal("?submit=true&actor=anna").find("actor"), std::string::npos)
        << "who proposes is who calls";
    EXPECT_EQ(ask("", "wrong").status, 401);
    body_.clear();
    EXPECT_NE(refusal("").find("the body is empty"), std::string::npos);
}

TEST(CandidateWork, ASubmissionThatWasInterruptedIsNotMadeTwice) {
    for (const bool submits : {true, false}) {
        runtime::JobRecord job;
        job.id = "00ff";
        job.kind = CandidateRoutes::kCandidate;
        job.serial = job.begun = 1;
        job.phase = runtime::JobPhase::kRunning;
        job.asked_at = runtime::SystemClock().now();
        http::Request request;
        EXPECT_TRUE(http::parse_target(submits ? "/x?submit=true" : "/x", request));
        job.request = job_text(request);
        int asked = 0;
        support::WorkingJobs jobs(
            CandidateRoutes::kCandidate,
            CandidateWork([&](const auto&) -> base::Result<retraining::Proposed> {
                ++asked;
                return base::Error{base::ErrorCode::kFailedPrecondition, "asked", "asked"};
            }),
            {job});
        const auto ended = jobs.queue().wait("00ff", base::Duration::seconds(60)).value();
        EXPECT_EQ(ended.error->reason, submits ? "job_interrupted" : "asked");
        EXPECT_EQ(asked, submits ? 0 : 1);
    }
}

}  // namespace
}  // namespace rampart::rampartd
