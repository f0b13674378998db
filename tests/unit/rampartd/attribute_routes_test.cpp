#include "services/rampartd/api/attribute_routes.hpp"

#include <gtest/gtest.h>

#include "rampart/base/limits.hpp"
#include "support/asking.hpp"

namespace rampart::rampartd {
namespace {

const std::string kPath = "/v1/protected-attributes";
const std::string kLine =
    R"({"person_id":"p","event_time":"2005-04-01","attributes":{"sex":"female"}})";

class AttributeRoutesTest : public testing::Test {
  protected:
    base::Status answer_;
    std::vector<size_t> stated_;
    support::Asking api_{AttributeRoutes([this](auto people) {
        stated_.push_back(people.size());
        return answer_;
    })};
};

TEST_F(AttributeRoutesTest, TakeALineForEachPerson) {
    EXPECT_EQ(api_.said("POST", kPath, kLine), R"(200 {"accepted":1})");
    EXPECT_EQ(api_.said("POST", kPath, "\n" + kLine + "\n\n" + kLine + "\n"),
              R"(200 {"accepted":2})");
    EXPECT_EQ(stated_, (std::vector<size_t>{1, 2}));
    EXPECT_EQ(api_.ask("POST", kPath, kLine, "wrong").status, 401);
}

TEST_F(AttributeRoutesTest, TakeAsManyAsABatchMayHave) {
    std::string lines;
    for (size_t i = 0; i < base::limits::kMaxBatch; ++i) lines += kLine + '\n';
    EXPECT_EQ(api_.post(kPath, lines).status, 200);
    EXPECT_EQ(api_.said("POST", kPath, lines + kLine), "422 batch_too_large");
    EXPECT_EQ(stated_, std::vector<size_t>{base::limits::kMaxBatch});
}

TEST_F(AttributeRoutesTest, AWrongLineIsNamedAndNothingIsTaken) {
    const auto answer = api_.post(kPath, kLine + "\nx\n");
    EXPECT_EQ(answer.status, 400);
    EXPECT_NE(answer.body.find("line 2"), std::string::npos) << answer.body;
    EXPECT_EQ(api_.said("POST", kPath, ""), "400 empty_batch");
    EXPECT_EQ(api_.said("POST", kPath, "\n\n"), "400 empty_batch");
    EXPECT_EQ(api_.post(kPath, R"({"person_id":"p","x":1})").status, 400);
    EXPECT_TRUE(stated_.empty());
    answer_ = base::Error{base::ErrorCode::kInvalidArgument, "unknown_value", "x"};
    EXPECT_EQ(api_.said("POST", kPath, kLine), "400 unknown_value");
}

}  // namespace
}  // namespace rampart::rampartd
