#include "services/rampartd/api/policy_routes.hpp"

#include <gtest/gtest.h>

#include "support/small_stores.hpp"

namespace rampart::rampartd {
namespace {

using support::day;

class PolicyRoutesTest : public testing::Test {
  protected:
    PolicyRoutesTest() {
        const auto file = model::encode_model_file(support::constant_policy(0.5)->policy);
        id_ = stores_.registry->register_model(file, day(1), "test").value();
        EXPECT_TRUE(stores_.registry->bootstrap_champion(id_, day(10), "anna"));
    }
    http::Response get(const std::string& target) {
        http::Router router(access::one_token("t", {"anna", access::Scopes::all()}));
        PolicyRoutes(*stores_.registry, [this] { return trains_; }).add_to(router);
        http::Request request;
        request.method = "GET";
        request.headers = {{"Authorization", "Bearer t"}};
        EXPECT_TRUE(http::parse_target(target, request));
        return router.handle(std::move(request));
    }
    support::SmallStores stores_;
    domain::PolicyId id_;
    base::Status trains_;
};

TEST_F(PolicyRoutesTest, SayWhoDecidedAtATime) {
    const auto before = get("/v1/policies/at?time=1970-01-10");
    EXPECT_EQ(before.status, 200);
    EXPECT_NE(before.body.find(R"("decides":[],"champion":null)"), std::string::npos)
        << before.body;
    const auto since = get("/v1/policies/at?time=1970-01-11");
    EXPECT_NE(since.body.find(fmt::format(R"("decides":[{{"policy":"{}","share":1)", id_)),
              std::string::npos)
        << since.body;
    EXPECT_NE(since.body.find(R"("kind":"bootstrap","by":"anna")"), std::string::npos);
}

TEST_F(PolicyRoutesTest, RefuseWhatIsNoTimeAndANodeThatDoesNotTrain) {
    for (const char* wrong : {"", "?time=soon", "?time=1970-01-11&at=1", "?at=1970-01-11"})
        EXPECT_EQ(get(std::string("/v1/policies/at") + wrong).status, 400) << wrong;
    trains_ = base::Error{base::ErrorCode::kFailedPrecondition, "trains_elsewhere", "ask there"};
    EXPECT_EQ(get("/v1/policies/at?time=1970-01-11").status, 409);
}

}  // namespace
}  // namespace rampart::rampartd
