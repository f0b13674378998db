#include "services/rampartd/api/model_routes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/asking.hpp"
#include "support/small_stores.hpp"

namespace rampart::rampartd {
namespace {

using support::day;

class ModelRoutesTest : public testing::Test {
  protected:
    ModelRoutesTest() {
        const auto file = model::encode_model_file(support::constant_policy(0.5)->policy);
        id_ = stores_.registry->register_model(file, day(1), "test").value();
        EXPECT_TRUE(stores_.registry->bootstrap_champion(id_, day(1), "test"));
        bytes_ = file.size();
    }
    support::SmallStores stores_;
    domain::PolicyId id_;
    size_t bytes_ = 0;
    base::Status answer_;  // what the rollback answers
    std::vector<std::string> rolled_back_;
    support::Asking api_{ModelRoutes(*stores_.registry, [this](auto actor, auto reason) {
        rolled_back_.push_back(std::string(actor) + ": " + std::string(reason));
        return answer_;
    })};
};

TEST_F(ModelRoutesTest, ListsModelsAndWhichIsTheChampion) {
    EXPECT_EQ(api_.said("GET", "/v1/models"),
              fmt::format(R"(200 {{"models":[{{"id":"{}","registered_at":"1970-01-02T00:00:00Z",)"
                          R"("bytes":{},"champion":true}}],"next_cursor":null}})",
                          id_, bytes_));
    EXPECT_EQ(api_.ask("GET", "/v1/models", "", "wrong").status, 401);
}

TEST_F(ModelRoutesTest, RollsBackForAnActorAndAReason) {
    EXPECT_EQ(api_.said("POST", "/v1/rollback", R"({"reason":"harm"})"),
              fmt::format(R"(200 {{"champion":"{}"}})", id_));
    EXPECT_EQ(rolled_back_, std::vector<std::string>{"anna: harm"});
}

TEST_F(ModelRoutesTest, RefusesARollbackThatIsNotOne) {
    const std::string path = "/v1/rollback";
    EXPECT_EQ(api_.said("POST", path, "x"), "400 bad_json");
    EXPECT_EQ(api_.said("POST", path, R"({})"), "400 missing_field");
    EXPECT_EQ(api_.said("POST", path, R"({"reason":"r","actor":"x"})"), "400 unknown_field");
    EXPECT_TRUE(rolled_back_.empty());
    answer_ =
        base::Error{base::ErrorCode::kFailedPrecondition, "trains_elsewhere", "roll back there"};
    EXPECT_EQ(api_.said("POST", path, R"({"reason":"r"})"), "409 trains_elsewhere");
}

}  // namespace
}  // namespace rampart::rampartd
