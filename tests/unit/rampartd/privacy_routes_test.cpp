#include "services/rampartd/api/privacy_routes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/rampartd/api/erasure_jobs.hpp"
#include "support/asking.hpp"
#include "support/small_stores.hpp"
#include "support/working_jobs.hpp"

namespace rampart::rampartd {
namespace {

using data_retention::ErasureReport;

const std::string kErase = "/v1/erasures", kHolds = "/v1/holds", kRemove = "/v1/holds/remove";

class PrivacyRoutesTest : public testing::Test {
  protected:
    support::SmallStores stores_;
    std::vector<std::string> erased_;  // what was asked
    base::Result<ErasureReport> report_ = ErasureReport();
    static base::Result<domain::PersonId> person_behind(const domain::ApplicationId& application) {
        if (application.value() == "a-1") return domain::PersonId("p-1");
        return base::Error{base::ErrorCode::kNotFound, "unknown_application", "x"};
    }
    base::Result<ErasureReport> erase(std::string_view person, std::string_view actor,
                                      std::string_view reason, bool dry_run) {
        erased_.push_back(fmt::format("{} {} {} {}", person, actor, reason, dry_run));
        return report_;
    }
    support::WorkingJobs jobs_{PrivacyRoutes::kErasure,
                               ErasureWork(
                                   [this](const AskedErasure& asked, auto, const auto&) {
                                       return erase(asked.person, asked.actor, asked.reason,
                                                    asked.dry_run);
                                   },
                                   person_behind)};
    support::Asking api_{PrivacyRoutes(
        {stores_.service.clock,
         {*stores_.keys, *stores_.holds, *stores_.registry},
         [this](const domain::PersonId& person, std::string_view actor, std::string_view reason) {
             return erase(person.value(), actor, reason, true);
         },
         person_behind,
         JobAnswers(jobs_.queue(), base::Duration::seconds(60))})};
};

TEST_F(PrivacyRoutesTest, EraseAPersonByIdOrByApplication) {
    report_->decisions = {{domain::PersonId("p"), domain::DecisionId("d"),
                           domain::ApplicationId("a-1"), support::day(1), support::day(1)}};
    report_->quarantined = 2;
    report_->attributes = true;
    report_->keys = 3;
    report_->remains = {"backups"};
    EXPECT_EQ(api_.said("POST", kErase, R"({"person_id":"p","reason":"r","dry_run":false})"),
              R"(200 {"erased":true,"decisions":[{"decision_id":"d",)"
              R"("decided_at":"1970-01-02T00:00:00Z"}],"quarantined":2,)"
              R"("protected_attributes":true,"keys_destroyed":3,"in_clear":0,)"
              R"("remains":["backups"]})");
    const auto dry =
        api_.said("POST", kErase, R"({"application_id":"a-1","reason":"r","dry_run":true})");
    EXPECT_TRUE(dry.starts_with(R"(200 {"erased":false,)")) << dry;
    EXPECT_EQ(erased_, (std::vector<std::string>{"p anna r false", "p-1 anna r true"}));
}

TEST_F(PrivacyRoutesTest, RefuseAnErasureThatIsNotOneAndSayWhatForbidsIt) {
    EXPECT_EQ(api_.said("POST", kErase, "x"), "400 bad_json");
    EXPECT_EQ(api_.said("POST", kErase, R"({"reason":"r","dry_run":false})"), "400 missing_field");
    EXPECT_EQ(
        api_.said("POST", kErase, R"({"person_id":"p","reason":"r","dry_run":false,"x":"y"})"),
        "400 unknown_field");
    EXPECT_EQ(api_.said("POST", kErase, R"({"person_id":"p","reason":"r","dry_run":"no"})"),
              "400 wrong_type");
    EXPECT_EQ(api_.said("POST", kErase, R"({"application_id":"a-2","reason":"r","dry_run":false})"),
              "404 unknown_application");
    EXPECT_TRUE(erased_.empty());
    const std::string body = R"({"person_id":"p","reason":"r","dry_run":false})";
    report_ = base::Error{base::ErrorCode::kFailedPrecondition, "on_hold", "x"};
    EXPECT_EQ(api_.said("POST", kErase, body), "409 on_hold");
    report_ = base::Error{base::ErrorCode::kUnavailable, "partition_rebuilding", "x"};
    EXPECT_EQ(api_.said("POST", kErase, body), "503 partition_rebuilding");
    EXPECT_EQ(api_.ask("POST", kErase, body, "wrong").status, 401);
}

TEST_F(PrivacyRoutesTest, HoldsArePlacedListedAndLifted) {
    const auto tag = base::to_hex(stores_.keys->tag_of(domain::PersonId("anna")).value());
    const auto hold = [&](const std::string& until, bool in_force) {
        return fmt::format(R"({{"person":"{}","matter":"court","reason":"claim","actor":"anna",)"
                           R"("since":"1970-04-11T00:00:00Z","until":{},"in_force":{}}})",
                           tag, until, in_force);
    };
    const std::string members = R"("person_id":"anna","matter":"court","reason":"claim")";
    EXPECT_EQ(api_.said("POST", kHolds, "{" + members + R"(,"until":"1970-05-01"})"),
              "200 " + hold(R"("1970-05-01T00:00:00Z")", true));
    EXPECT_EQ(api_.said("GET", kHolds),
              R"(200 {"holds":[)" + hold(R"("1970-05-01T00:00:00Z")", true) + "]}");
    stores_.service.clock.move(base::Duration::days(20));
    EXPECT_EQ(api_.said("GET", kHolds),
              R"(200 {"holds":[)" + hold(R"("1970-05-01T00:00:00Z")", false) + "]}");
    stores_.service.clock.move(base::Duration::days(-20));
    EXPECT_EQ(api_.said("POST", kRemove, "{" + members + "}"), "200 " + hold("null", true));
    EXPECT_EQ(api_.said("GET", kHolds), R"(200 {"holds":[]})");
    EXPECT_EQ(api_.said("POST", kRemove, "{" + members + "}"), "404 no_hold");
    EXPECT_EQ(api_.said("POST", kHolds, "{" + members + "}"), "200 " + hold("null", true));
}

TEST_F(PrivacyRoutesTest, RefuseAHoldThatIsNotOne) {
    const auto entries = stores_.registry->audit_entries()->size();
    const auto body = [](const std::string& person, const std::string& reason,
                         const std::string& rest) {
        return fmt::format(R"({{"person_id":"{}","matter":"m","reason":"{}"{}}})", person, reason,
                           rest);
    };
    const std::string some_day = R"(,"until":"1970-05-01")";
    for (const auto& path : {kHolds, kRemove}) {
        const std::string rest = path == kHolds ? some_day : "";
        EXPECT_EQ(api_.said("POST", path, "[]"), "400 bad_json");
        EXPECT_EQ(api_.said("POST", path, "{}"), "400 missing_field");
        EXPECT_EQ(api_.said("POST", path, body("p", "r", rest + R"(,"x":"y")")),
                  "400 unknown_field");
        EXPECT_EQ(api_.said("POST", path, body("", "r", rest)), "400 bad_id");
        EXPECT_EQ(api_.said("POST", path, body("p", "", rest)), "400 reason_missing");
    }
    EXPECT_EQ(api_.said("POST", kHolds, body("p", "r", R"(,"until":"")")), "400 bad_time");
    EXPECT_EQ(api_.said("POST", kRemove, body("p", "r", some_day)), "400 unknown_field");
    EXPECT_EQ(api_.post(kHolds, body("p", "r", R"(,"until":"soon")")).status, 400);
    EXPECT_EQ(stores_.registry->audit_entries()->size(), entries);
}

}  // namespace
}  // namespace rampart::rampartd
