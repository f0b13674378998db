#include "services/rampartd/api/notice_routes.hpp"

#include <gtest/gtest.h>

#include "rampart/notices/reasons.hpp"

namespace rampart::rampartd {
namespace {

class NoticeRoutesTest : public testing::Test {
  protected:
    http::Response get(const std::string& target, access::Scopes scopes = access::Scopes::all()) {
        http::Router router(access::one_token("t", {"anna", scopes}));
        NoticeRoutes(
            [this](const auto& id, auto language) -> base::Result<notices::Notice> {
                asked_ = fmt::format("{} in '{}'", id, language);
                if (id.value() == "d-2")
                    return base::make_error(notices::Reason::kNoAdverseAction, "approved");
                notices::Notice notice;
                notice.decision = id;
                notice.reasons = {{"income", "Income too low", {"annual_income"}}};
                return notice;
            },
            [this](const auto& error, const auto& id) {
                failed_ = id.value();
                return http::error_response(error);
            })
            .add_to(router);
        http::Request request;
        request.method = "GET";
        request.headers = {{"Authorization", "Bearer t"}};
        EXPECT_TRUE(http::parse_target(target, request));
        return router.handle(std::move(request));
    }

    std::string asked_, failed_;
};

TEST_F(NoticeRoutesTest, TheDecisionAndTheLanguageAreAskedFor) {
    const auto answer = get("/v1/decisions/d-1/notice?language=es");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.content_type, "application/json");
    EXPECT_EQ(asked_, "d-1 in 'es'");
    EXPECT_NE(answer.body.find(R"("text":"Income too low")"), std::string::npos) << answer.body;
    EXPECT_EQ(get("/v1/decisions/d-1/notice").status, 200);
    EXPECT_EQ(asked_, "d-1 in ''");
}

TEST_F(NoticeRoutesTest, WhatFailsIsAnsweredForItsDecisionAndOtherParametersAreRefused) {
    EXPECT_EQ(get("/v1/decisions/d-2/notice").status, 409);
    EXPECT_EQ(failed_, "d-2");
    asked_.clear();
    const auto unknown = get("/v1/decisions/d-1/notice?lang=es");
    EXPECT_EQ(unknown.status, 400);
    EXPECT_NE(unknown.body.find("unknown_field"), std::string::npos);
    EXPECT_EQ(asked_, "");
}

TEST_F(NoticeRoutesTest, WhoMayReadDecisionsMayReadThem) {
    access::Scopes read, decide;
    read.add(access::Scope::kRead);
    decide.add(access::Scope::kDecide);
    EXPECT_EQ(get("/v1/decisions/d-1/notice", read).status, 200);
    EXPECT_EQ(get("/v1/decisions/d-1/notice", decide).status, 403);
}

}  // namespace
}  // namespace rampart::rampartd
