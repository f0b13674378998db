#include "services/rampartd/api/audit_routes.hpp"

#include <gtest/gtest.h>

#include "support/small_stores.hpp"

namespace rampart::rampartd {
namespace {

using support::day;

class AuditRoutesTest : public testing::Test {
  protected:
    AuditRoutesTest() {
        for (int i = 1; i <= 3; ++i)
            EXPECT_TRUE(stores_.registry->record_operation(
                day(i), i == 2 ? "bert" : "anna", "accept_gap",
                {{"topic", "outcomes"}, {"partition", std::to_string(i)}}));
    }
    http::Response get(const std::string& target, access::Scopes scopes = access::Scopes::all()) {
        http::Router router(access::one_token("t", {"anna", scopes}));
        AuditRoutes(*stores_.registry).add_to(router);
        http::Request request;
        request.method = "GET";
        request.headers = {{"Authorization", "Bearer t"}};
        EXPECT_TRUE(http::parse_target(target, request));
        return router.handle(std::move(request));
    }
    support::SmallStores stores_;
};

TEST_F(AuditRoutesTest, AnswerPagesOfWhatIsAskedFor) {
    const auto first = get("/v1/audit?principal=anna&limit=1");
    EXPECT_EQ(first.status, 200);
    EXPECT_NE(first.body.find(R"("object":"outcomes")"), std::string::npos) << first.body;
    EXPECT_NE(first.body.find(R"("next_cursor":1)"), std::string::npos) << first.body;
    const auto second = get("/v1/audit?principal=anna&limit=1&cursor=1");
    EXPECT_NE(second.body.find(R"("number":3)"), std::string::npos) << second.body;
    EXPECT_NE(second.body.find(R"("next_cursor":null)"), std::string::npos) << second.body;
    EXPECT_EQ(stores_.registry->audit_head().count, 3u) << "a page is no entry itself";
}

TEST_F(AuditRoutesTest, NameWhatIsNoFilterAndAskForTheScope) {
    for (const char* wrong :
         {"limit=0", "limit=1001", "from=soon", "cursor=x", "who=anna", "to="}) {
        const auto answer = get(std::string("/v1/audit?") + wrong);
        EXPECT_EQ(answer.status, 400) << wrong;
        const std::string name(wrong, std::string_view(wrong).find('='));
        EXPECT_NE(answer.body.find("$." + name), std::string::npos) << answer.body;
    }
    EXPECT_NE(get("/v1/audit?who=anna").body.find("unknown_field"), std::string::npos);
    EXPECT_EQ(get("/v1/audit", access::Scopes::parse({"read"}).value()).status, 403);
    EXPECT_EQ(get("/v1/audit", access::Scopes::parse({"audit"}).value()).status, 200);
}

}  // namespace
}  // namespace rampart::rampartd
