#include "services/rampartd/api/proposal_routes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/set_clock.hpp"
#include "support/small_stores.hpp"

namespace rampart::rampartd {
namespace {

using ::testing::HasSubstr;

class ProposalRoutesTest : public testing::Test {
  protected:
    http::Response ask(const std::string& method, const std::string& target,
                       const std::string& body = "") {
        http::Router router(access::one_token("t", {"anna", access::Scopes::all()}));
        const auto judge = [this](const char* what) {
            return [this, what](uint64_t number, registry::Judgement by) {
                asked_ = fmt::format("{} {} {} {} {}", what, number, by.who, by.comment,
                                     by.digest.hex().substr(0, 4));
                if (by.switch_at) asked_ += " at " + base::to_iso8601(*by.switch_at);
                registry::PromotionProposal one;
                one.number = number;
                return base::Result<registry::PromotionProposal>(one);
            };
        };
        ProposalRoutes({clock_, *stores_.registry, [this] { return trains_; }, judge("approve"),
                        judge("reject")})
            .add_to(router);
        http::Request request;
        request.method = method;
        request.headers = {{"Authorization", "Bearer t"}};
        request.body = body;
        EXPECT_TRUE(http::parse_target(target, request));
        return router.handle(std::move(request));
    }
    static std::string body(const std::string& digest) {
        return fmt::format(R"({{"digest":"{}","comment":"why"}})", digest);
    }

    support::SetClock clock_{base::TimePoint::from_micros(0)};
    support::SmallStores stores_;
    base::Status trains_;
    std::string asked_;
};

TEST_F(ProposalRoutesTest, AJudgementIsThePrincipalsAndNamesWhatWasSeen) {
    const auto digest = std::string(64, 'a');
    const auto answer = ask("POST", "/v1/proposals/3/approve", body(digest));
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_THAT(answer.body, HasSubstr(R"({"proposal":{"id":3,"state":"waiting")"));
    EXPECT_EQ(asked_, "approve 3 anna why aaaa");
    EXPECT_EQ(ask("POST", "/v1/proposals/3/reject", body(digest)).status, 200);
    EXPECT_EQ(asked_, "reject 3 anna why aaaa");
    ask("POST", "/v1/proposals/3x/reject", body(digest));
    EXPECT_EQ(asked_, "reject 0 anna why aaaa") << "the number of no proposal";
}

TEST_F(ProposalRoutesTest, AnApprovalMayNameTheTimeOfTheSwitchAndARejectionMayNot) {
    const auto timed = [](const char* time) {
        return fmt::format(R"({{"digest":"{}","comment":"why","switch_at":{}}})",
                           std::string(64, 'a'), time);
    };
    EXPECT_EQ(ask("POST", "/v1/proposals/3/approve", timed("\"2026-12-01T06:00:00Z\"")).status,
              200);
    EXPECT_EQ(asked_, "approve 3 anna why aaaa at 2026-12-01T06:00:00Z");
    asked_.clear();
    for (const char* wrong : {"\"\"", "\"soon\"", "null", "7"})
        EXPECT_EQ(ask("POST", "/v1/proposals/3/approve", timed(wrong)).status, 400) << wrong;
    EXPECT_EQ(ask("POST", "/v1/proposals/3/reject", timed("\"2026-12-01\"")).status, 400);
    EXPECT_EQ(asked_, "");
}

TEST_F(ProposalRoutesTest, ABodyThatIsNoJudgementIsRefused) {
    for (const auto& wrong :
         {std::string(), std::string("{}"), body("abc"), std::string(R"({"comment":"why"})"),
          std::string(R"({"digest":1,"comment":"why"})")})
        EXPECT_EQ(ask("POST", "/v1/proposals/3/approve", wrong).status, 400) << wrong;
    EXPECT_EQ(asked_, "");
}

TEST_F(ProposalRoutesTest, ListsAreOfTheNodeThatTrains) {
    EXPECT_EQ(ask("GET", "/v1/proposals").body, R"({"proposals":[]})");
    EXPECT_EQ(ask("GET", "/v1/proposals/1").status, 404);
    EXPECT_EQ(ask("GET", "/v1/proposals/one").status, 404);
    trains_ = base::Error{base::ErrorCode::kFailedPrecondition, "trains_elsewhere", "ask there"};
    EXPECT_EQ(ask("GET", "/v1/proposals").status, 409);
    EXPECT_EQ(ask("GET", "/v1/proposals/1").status, 409);
}

}  // namespace
}  // namespace rampart::rampartd
