#include "services/rampartd/api/unmatched_routes.hpp"

#include <gtest/gtest.h>

#include "support/asking.hpp"
#include "support/small_stores.hpp"

namespace rampart::rampartd {
namespace {

using support::day;

class UnmatchedRoutesTest : public testing::Test {
  protected:
    support::SmallStores stores_;
    support::Asking api_{UnmatchedRoutes(*stores_.joiner, stores_.service.clock)};
};

TEST_F(UnmatchedRoutesTest, BeforeAnythingIsReadNothingIsOwed) {
    EXPECT_EQ(api_.said("GET", "/v1/unmatched"),
              R"(200 {"as_of":"1970-04-11T00:00:00Z","unmatched_reports":0,"overdue_examples":0,)"
              R"("unmatched":[],"unmatched_by_age":[{"up_to_days":30,"count":0},)"
              R"({"up_to_days":90,"count":0},{"up_to_days":180,"count":0},)"
              R"({"up_to_days":365,"count":0},{"up_to_days":null,"count":0}],"overdue":[],)"
              R"("overdue_by_age":[{"up_to_days":30,"count":0},{"up_to_days":90,"count":0},)"
              R"({"up_to_days":180,"count":0},{"up_to_days":365,"count":0},)"
              R"({"up_to_days":null,"count":0}],"listed_at_most":1000})");
    EXPECT_EQ(api_.ask("GET", "/v1/unmatched", "", "wrong").status, 401);
}

TEST_F(UnmatchedRoutesTest, ListsReportsWithoutADecisionAndExamplesWithoutAValueByAge) {
    const auto report = support::to_record(support::make_outcome("9", "repaid", 0, 1, day(100)));
    ASSERT_TRUE(stores_.log.append("outcomes", {&report, 1}));
    stores_.decide(1);
    ASSERT_TRUE(stores_.joiner->advance(day(200)));
    const auto answer = api_.said("GET", "/v1/unmatched");
    EXPECT_TRUE(answer.starts_with(
        R"(200 {"as_of":"1970-07-20T00:00:00Z","unmatched_reports":1,"overdue_examples":)"))
        << answer;
    EXPECT_NE(answer.find(R"("unmatched":[{"decision_id":"d-9","outcomes":1,"overrides":0,)"
                          R"("since":"1970-04-11T00:00:00Z"}],"unmatched_by_age":[)"
                          R"({"up_to_days":30,"count":0},{"up_to_days":90,"count":0},)"
                          R"({"up_to_days":180,"count":1})"),
              std::string::npos)
        << answer;
    EXPECT_NE(answer.find(R"("measure":"repaid","since":")"), std::string::npos) << answer;
}

}  // namespace
}  // namespace rampart::rampartd
