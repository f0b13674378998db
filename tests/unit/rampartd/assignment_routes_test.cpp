#include "services/rampartd/api/assignment_routes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/small_stores.hpp"

namespace rampart::rampartd {
namespace {

using ::testing::HasSubstr;

class AssignmentRoutesTest : public testing::Test {
  protected:
    http::Response ask(const std::string& method, const std::string& target,
                       const std::string& body = "") {
        http::Router router(access::one_token("t", {"anna", access::Scopes::all()}));
        const auto start = [this](domain::Assignment asked, auto actor, auto reason) {
            asked_ = fmt::format("start {} {} {}", asked.id, actor, reason);
            for (const auto& [policy, share] : asked.arms)
                asked_ += fmt::format(" {}={}", policy, share);
            if (!proposes_)
                return base::Result<Loop::Started>(
                    registry::AssignmentPeriod{std::move(asked), std::string(actor), {}, ""});
            registry::PromotionProposal one;
            one.number = 3;
            one.assignment = asked.id;
            return base::Result<Loop::Started>(one);
        };
        const auto end = [this](const std::string& id, auto actor, auto reason) {
            asked_ = fmt::format("end {} {} {}", id, actor, reason);
            return base::Result<registry::AssignmentPeriod>(
                registry::AssignmentPeriod{{id, {}, {}}, "anna", base::TimePoint(), "anna"});
        };
        AssignmentRoutes({*stores_.registry, [this] { return trains_; }, start, end})
            .add_to(router);
        http::Request request;
        request.method = method;
        request.headers = {{"Authorization", "Bearer t"}};
        request.body = body;
        EXPECT_TRUE(http::parse_target(target, request));
        return router.handle(std::move(request));
    }

    support::SmallStores stores_;
    base::Status trains_;
    bool proposes_ = false;
    std::string asked_;
};

TEST_F(AssignmentRoutesTest, AStartIsThePrincipalsAndNamesPoliciesAndShares) {
    const std::string body =
        R"({"id":"spring","arms":[{"policy":"a","share":0.1},{"policy":"b","share":0.2}],)"
        R"("reason":"a trial"})";
    const auto answer = ask("POST", "/v1/assignments", body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(asked_, "start spring anna a trial a=0.1 b=0.2");
    EXPECT_THAT(answer.body, HasSubstr(R"({"assignment":{"id":"spring")"));
    EXPECT_THAT(answer.body, HasSubstr(R"("proposal":null)"));
    proposes_ = true;
    const auto waits = ask("POST", "/v1/assignments", body).body;
    EXPECT_THAT(waits, HasSubstr(R"({"assignment":null,"proposal":{"id":3)"));
    EXPECT_THAT(waits, HasSubstr(R"("assignment":"spring")"));
}

TEST_F(AssignmentRoutesTest, ABodyThatIsNoStartIsRefusedWithTheNameOfTheField) {
    const auto refused = [&](const std::string& body, const std::string& field) {
        const auto answer = ask("POST", "/v1/assignments", body);
        EXPECT_EQ(answer.status, 400) << body << answer.body;
        EXPECT_THAT(answer.body, HasSubstr(field)) << body;
    };
    const auto with = [](const std::string& arms) {
        return fmt::format(R"({{"id":"x","arms":{},"reason":"why"}})", arms);
    };
    refused("", "JSON");
    refused("[]", "not a JSON object");
    refused(R"({"arms":[],"reason":"why"})", "$.id");
    refused(R"({"id":7,"arms":[],"reason":"why"})", "$.id");
    refused(R"({"id":"x","reason":"why"})", "$.arms");
    refused(R"({"id":"x","arms":[]})", "$.reason");
    refused(R"({"id":"x","arms":[],"reason":""})", "$.reason");
    refused(R"({"id":"x","arms":[],"reason":"why","more":1})", "$.more");
    refused(with("7"), "$.arms");
    refused(with("[7]"), "$.arms[0]");
    refused(with(R"([{"share":0.1}])"), "$.arms[0].policy");
    refused(with(R"([{"policy":"a"}])"), "$.arms[0].share");
    refused(with(R"([{"policy":"a","share":"0.1"}])"), "$.arms[0].share");
    refused(with(R"([{"policy":"a","share":0.1},{"policy":"a","share":1e999}])"),
            "$.arms[1].share");
    refused(with(R"([{"policy":"a","share":0.1,"more":1}])"), "$.arms[0].more");
    EXPECT_EQ(asked_, "");
}

TEST_F(AssignmentRoutesTest, AnEndNamesTheAssignmentAndSaysWhy) {
    EXPECT_EQ(ask("DELETE", "/v1/assignments/spring?reason=over").status, 200);
    EXPECT_EQ(asked_, "end spring anna over");
    asked_.clear();
    for (const char* wrong : {"", "?reason=", "?why=over", "?reason=over&more=1"})
        EXPECT_EQ(ask("DELETE", std::string("/v1/assignments/spring") + wrong).status, 400)
            << wrong;
    EXPECT_EQ(asked_, "");
}

TEST_F(AssignmentRoutesTest, ListsAreOfTheNodeThatTrains) {
    EXPECT_EQ(ask("GET", "/v1/assignments").body, R"({"in_force":null,"assignments":[]})");
    trains_ = base::Error{base::ErrorCode::kFailedPrecondition, "trains_elsewhere", "ask there"};
    EXPECT_EQ(ask("GET", "/v1/assignments").status, 409);
}

}  // namespace
}  // namespace rampart::rampartd
