#include "services/rampartd/api/quarantine_routes.hpp"

#include <gtest/gtest.h>

#include "rampart/wire/record_codec.hpp"
#include "support/asking.hpp"
#include "support/small_stores.hpp"

namespace rampart::rampartd {
namespace {

const std::string kReplay = "/v1/quarantine/replay", kDrop = "/v1/quarantine/drop";

std::string one(const std::string& topic, const std::string& offset = "0") {
    return fmt::format(R"({{"topic":"{}","partition":0,"offset":{},"reason":"seen"}})", topic,
                       offset);
}

class QuarantineRoutesTest : public testing::Test {
  protected:
    QuarantineRoutesTest() {
        stores_.service.approve_all();
        const auto early = wire::to_record(support::make_application(1, support::day(1)));
        const streaming::Record nonsense{"d", "nonsense", {}, {}};
        EXPECT_TRUE(stores_.log.append("applications", {&early, 1}));
        EXPECT_TRUE(stores_.log.append("outcomes", {&nonsense, 1}));
        EXPECT_TRUE(stores_.service.consumer->poll());
        EXPECT_TRUE(stores_.catch_up());
    }
    support::SmallStores stores_;
    const wire::Topics topics_ = wire::Topics::with_prefix("");
    support::Asking api_{QuarantineRoutes({stores_.service.clock, *stores_.registry,
                                           *stores_.joiner, *stores_.service.consumer, topics_})};
};

TEST_F(QuarantineRoutesTest, ListApplicationsAndWhatWasJoinedWithoutTheirContent) {
    const auto answer = api_.said("GET", "/v1/quarantine");
    EXPECT_TRUE(answer.starts_with(R"(200 {"quarantined":[{"topic":"applications",)"
                                   R"("partition":0,"offset":0,"reason":"event_time_outside",)"))
        << answer;
    EXPECT_NE(answer.find(R"({"topic":"outcomes","partition":0,"offset":0,)"), std::string::npos);
    EXPECT_TRUE(answer.ends_with(R"("bytes":8}]})")) << answer;
    EXPECT_EQ(answer.find("nonsense"), std::string::npos);
    EXPECT_EQ(api_.ask("GET", "/v1/quarantine", "", "wrong").status, 401);
}

TEST_F(QuarantineRoutesTest, AReplaySaysWhetherItIsApplied) {
    for (const char* topic : {"applications", "outcomes"}) {
        const auto answer = api_.said("POST", kReplay, one(topic));
        EXPECT_TRUE(answer.starts_with(R"(200 {"applied":false,"reason":")")) << answer;
        EXPECT_EQ(stores_.audited().action, "quarantine_replay");
        EXPECT_EQ(stores_.audited().details.at("topic"), topic);
    }
    stores_.service.clock.move(base::Duration::days(-95));
    EXPECT_EQ(api_.said("POST", kReplay, one("applications")), R"(200 {"applied":true})");
    EXPECT_EQ(api_.said("POST", kReplay, one("applications")), "404 not_quarantined");
    EXPECT_EQ(api_.said("POST", kReplay, one("outcomes", "9")), "404 not_quarantined");
}

TEST_F(QuarantineRoutesTest, WhatIsDroppedIsGone) {
    for (const char* topic : {"applications", "outcomes"}) {
        EXPECT_EQ(api_.said("POST", kDrop, one(topic)), R"(200 {"dropped":true})");
        EXPECT_EQ(stores_.audited().action, "quarantine_drop");
        EXPECT_EQ(api_.said("POST", kDrop, one(topic)), "404 not_quarantined");
    }
    EXPECT_EQ(api_.said("GET", "/v1/quarantine"), R"(200 {"quarantined":[]})");
}

TEST_F(QuarantineRoutesTest, RefuseWhatNamesNoRecord) {
    const auto entries = stores_.registry->audit_entries()->size();
    for (const auto& path : {kReplay, kDrop}) {
        EXPECT_EQ(api_.said("POST", path, ""), "400 bad_json");
        EXPECT_EQ(api_.said("POST", path, "{}"), "400 missing_field");
        auto body = one("outcomes");
        EXPECT_EQ(api_.said("POST", path, body.insert(1, R"("x":"y",)")), "400 unknown_field");
        EXPECT_EQ(api_.said("POST", path, one("outcomes", "-1")), "400 bad_number");
        EXPECT_EQ(api_.said("POST", path, one("outcomes", "\"1\"")), "400 wrong_type");
        EXPECT_EQ(api_.said("POST", path, one("outcomes", "9223372036854775808")),
                  "400 bad_number");
    }
    EXPECT_EQ(stores_.registry->audit_entries()->size(), entries);
}

}  // namespace
}  // namespace rampart::rampartd
