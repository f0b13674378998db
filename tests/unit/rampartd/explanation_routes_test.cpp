#include "services/rampartd/api/explanation_routes.hpp"

#include <gtest/gtest.h>

#include "rampart/attribution/reasons.hpp"

namespace rampart::rampartd {
namespace {

class ExplanationRoutesTest : public testing::Test {
  protected:
    http::Response get(const std::string& id, access::Scopes scopes = access::Scopes::all()) {
        http::Router router(access::one_token("t", {"anna", scopes}));
        ExplanationRoutes(
            [](const auto& asked) -> base::Result<std::string> {
                if (asked.value() == "d-2")
                    return base::make_error(attribution::Reason::kNoReferenceSet, "alone");
                return fmt::format(R"({{"decision_id":"{}"}})", asked.value());
            },
            [this](const auto& error, const auto& failed) {
                failed_ = failed.value();
                return http::error_response(error);
            })
            .add_to(router);
        http::Request request;
        request.method = "GET";
        request.headers = {{"Authorization", "Bearer t"}};
        EXPECT_TRUE(http::parse_target("/v1/decisions/" + id + "/explanation", request));
        return router.handle(std::move(request));
    }

    std::string failed_;
};

TEST_F(ExplanationRoutesTest, TheStoredDocumentIsTheAnswer) {
    const auto answer = get("d-1");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.content_type, "application/json");
    EXPECT_EQ(answer.body, R"({"decision_id":"d-1"})");
    EXPECT_EQ(get("d-2").status, 409);
    EXPECT_EQ(failed_, "d-2");
}

TEST_F(ExplanationRoutesTest, WhoMayReadDecisionsMayReadThem) {
    access::Scopes read, decide;
    read.add(access::Scope::kRead);
    decide.add(access::Scope::kDecide);
    EXPECT_EQ(get("d-1", read).status, 200);
    EXPECT_EQ(get("d-1", decide).status, 403);
}

}  // namespace
}  // namespace rampart::rampartd
