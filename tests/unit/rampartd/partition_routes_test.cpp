#include "services/rampartd/api/partition_routes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/asking.hpp"
#include "support/small_stores.hpp"

namespace rampart::rampartd {
namespace {

const std::string kResume = "/v1/partitions/resume";

std::string gap(const std::string& topic, const std::string& partition = "0") {
    return fmt::format(R"({{"topic":"{}","partition":{},"reason":"lost"}})", topic, partition);
}

class PartitionRoutesTest : public testing::Test {
  protected:
    support::SmallStores stores_;
    const wire::Topics topics_ = wire::Topics::with_prefix("");
    std::vector<joiner::StoppedPartition> stopped_;
    support::Asking api_{PartitionRoutes({stores_.service.clock, *stores_.registry, *stores_.joiner,
                                          *stores_.service.service, *stores_.service.consumer,
                                          topics_, [this] { return stopped_; }})};
};

TEST_F(PartitionRoutesTest, ListWhatEachPartitionHas) {
    stores_.decide(1);
    const auto answer = api_.said("GET", "/v1/partitions");
    EXPECT_TRUE(answer.starts_with(R"(200 {"partitions":[{"partition":0,"state_hash":null,)"))
        << answer;
    EXPECT_NE(answer.find(R"("fence":0,"next":{"decisions/0":1},"clock":null,"counts":{)"
                          R"("decisions":1,"duplicate_decisions":0,)"),
              std::string::npos)
        << answer;
    EXPECT_TRUE(answer.ends_with(
        R"("overdue":0,"fenced":0,"appended_late":0},"role":"decides","epoch":0,"index":{)"
        R"("decisions":1,"repeated":0,"fenced":0,"passed_over":0}}],"stopped":[]})"))
        << answer;
    EXPECT_EQ(api_.ask("GET", "/v1/partitions", "", "wrong").status, 401);
}

TEST_F(PartitionRoutesTest, TheHashOfTheStateIsForAnAudit) {
    support::Asking api(PartitionRoutes({stores_.service.clock, *stores_.registry, *stores_.joiner,
                                         *stores_.service.service, *stores_.service.consumer,
                                         topics_, [this] { return stopped_; }, true}));
    const auto hash = stores_.joiner->partition_states()->front().hash.hex();
    EXPECT_NE(api.said("GET", "/v1/partitions").find(R"("state_hash":")" + hash),
              std::string::npos);
}

TEST_F(PartitionRoutesTest, NameWhatStandsStillAndWhy) {
    stores_.service.service->give_up(streaming::PartitionId(0), "b");
    stopped_ = {{"outcomes", streaming::PartitionId(-1),
                 base::Error{base::ErrorCode::kDataLoss, "topic_recreated", "new"}}};
    const auto answer = api_.said("GET", "/v1/partitions");
    EXPECT_NE(answer.find(R"("role":"stopped")"), std::string::npos) << answer;
    EXPECT_NE(answer.find(R"("why":"partition 0 was taken over by the node 'b')"),
              std::string::npos);
    EXPECT_NE(answer.find(R"("stopped":[{"topic":"outcomes","partition":"all",)"
                          R"("reason":"topic_recreated","message":"new"}])"),
              std::string::npos);
}

TEST_F(PartitionRoutesTest, AGapIsAcceptedAndAudited) {
    stores_.decide(1);
    auto& topic = stores_.log.topics["decisions"];
    topic.identity = "another";
    EXPECT_FALSE(stores_.catch_up());
    const auto answer = api_.said("POST", kResume, gap("decisions", "\"all\""));
    EXPECT_TRUE(answer.starts_with(R"(200 {"accepted":[{"holder":0,"topic":"decisions",)"
                                   R"("partition":"all","why":"topic 'decisions')"))
        << answer;
    EXPECT_TRUE(answer.ends_with(R"("index_accepted":true,"keys_accepted":false})")) << answer;
    EXPECT_EQ(stores_.audited().action, "accept_gap");
    EXPECT_EQ(stores_.audited().details.at("partition"), "all");
    EXPECT_TRUE(stores_.catch_up());
}

TEST_F(PartitionRoutesTest, OfApplicationsTheConsumerAccepts) {
    EXPECT_EQ(api_.said("POST", kResume, gap("applications")),
              R"(200 {"accepted":[],"index_accepted":false,"keys_accepted":false})");
    EXPECT_EQ(api_.said("POST", kResume, gap("outcomes")), "409 not_stopped");
}

TEST_F(PartitionRoutesTest, LostKeysAreAcceptedBeforeAnyGap) {
    std::vector<std::string> asked;
    support::Asking api(PartitionRoutes(
        {stores_.service.clock, *stores_.registry, *stores_.joiner, *stores_.service.service,
         *stores_.service.consumer, topics_, [this] { return stopped_; }, false,
         [&asked](const std::string& topic, streaming::PartitionId p) -> base::Result<bool> {
             asked.push_back(fmt::format("{} {}", topic, p));
             return topic == "person-keys";
         }}));
    EXPECT_EQ(api.said("POST", kResume, gap("person-keys")),
              R"(200 {"accepted":[],"index_accepted":false,"keys_accepted":true})");
    EXPECT_EQ(stores_.audited().details.at("topic"), "person-keys");
    EXPECT_EQ(api.said("POST", kResume, gap("outcomes")), "409 not_stopped");
    EXPECT_EQ(asked, (std::vector<std::string>{"person-keys 0", "outcomes 0"}));
}

TEST_F(PartitionRoutesTest, RefuseWhatDoesNotSayWhereAndWhy) {
    const auto entries = stores_.registry->audit_entries()->size();
    EXPECT_EQ(api_.said("POST", kResume, "x"), "400 bad_json");
    EXPECT_EQ(api_.said("POST", kResume, R"({"topic":"decisions"})"), "400 missing_field");
    auto body = gap("decisions");
    EXPECT_EQ(api_.said("POST", kResume, body.insert(1, R"("x":"y",)")), "400 unknown_field");
    EXPECT_EQ(api_.said("POST", kResume, gap("decisions", "-1")), "400 bad_number");
    EXPECT_EQ(api_.said("POST", kResume, gap("decisions", "1000001")), "400 bad_number");
    EXPECT_EQ(api_.said("POST", kResume, R"({"topic":"decisions","partition":0,"reason":""})"),
              "400 reason_missing");
    EXPECT_EQ(stores_.registry->audit_entries()->size(), entries);
}

}  // namespace
}  // namespace rampart::rampartd
