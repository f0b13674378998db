// Stop buttons of one node, and of two nodes over one topic of leases.
#include "services/rampartd/stop_buttons.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "rampart/base/reasons.hpp"
#include "services/rampartd/api/stop_routes.hpp"
#include "services/rampartd/reasons.hpp"
#include "support/asking.hpp"
#include "support/small_stores.hpp"

namespace rampart::rampartd {
namespace {

using domain::StopKind;
using support::day;
using support::make_application;

/// A log that calls `asked` before it is read, and fails as that does.
class AskedLog final : public streaming::Reader {
  public:
    AskedLog(const streaming::Reader& log, std::function<base::Status()> asked)
        : log_(log), asked_(std::move(asked)) {}
    base::Result<int32_t> partitions(std::string_view topic) const override {
        return log_.partitions(topic);
    }
    base::Result<std::string> identity(std::string_view topic) const override {
        return log_.identity(topic);
    }
    base::Result<std::vector<streaming::StoredRecord>> read(std::string_view topic,
                                                            streaming::PartitionId partition,
                                                            streaming::Offset from,
                                                            size_t limit) const override {
        RAMPART_RETURN_IF_ERROR(asked_());
        return log_.read(topic, partition, from, limit);
    }
    base::Result<streaming::Offset> begin_offset(std::string_view topic,
                                                 streaming::PartitionId partition) const override {
        return log_.begin_offset(topic, partition);
    }
    base::Result<streaming::Offset> end_offset(std::string_view topic,
                                               streaming::PartitionId partition) const override {
        return log_.end_offset(topic, partition);
    }

  private:
    const streaming::Reader& log_;
    const std::function<base::Status()> asked_;
};

/// A node that decides by P = 0.5, and whose first policy, P = 1, is the rule.
struct StoppedNode {
    explicit StoppedNode(support::MemoryLog* leases = nullptr) : leases_(leases) {
        const auto file = model::encode_model_file(support::constant_policy(1)->policy);
        rules = stores.registry->register_model(file, day(1), "test").value();
        EXPECT_TRUE(stores.registry->bootstrap_champion(rules, day(1), "test"));
        EXPECT_TRUE(stores.service.service->set_policy(champion, false));
        start();
    }
    /// Opens the buttons, as at a start of the node. `reader`: in the place of the log.
    void start(const streaming::Reader* reader = nullptr) {
        const streaming::Reader* log = reader != nullptr ? reader : leases_;
        auto feed = leases_ == nullptr
                        ? nullptr
                        : std::make_unique<registry::StopFeed>(*log, *leases_, "leases", "group");
        buttons = std::make_unique<StopButtons>(
            StopButtons::Deps{*stores.registry, *stores.service.service, stores.service.clock,
                              [this] { return joined; }, [this] { return clock_known; }},
            std::move(feed));
        opened = buttons->open();
    }
    domain::Decision decide() {
        return stores.service.decide(make_application(next++, stores.service.clock.now()));
    }
    bool rules_decide() { return decide().policy == rules; }
    bool explores() { return !decide().exploration_spent; }
    std::string refusal() {
        const auto one = make_application(next++, stores.service.clock.now());
        return stores.service.service->decide({&one, 1}).error().reason;
    }
    /// Returns the reason of the last audit entry, after its action and its actor.
    std::string audited() {
        const auto entry = stores.audited();
        return fmt::format("{} {}: {}", entry.action, entry.actor, entry.details.at("reason"));
    }

    support::SmallStores stores;
    const std::shared_ptr<const model::LoadedPolicy> champion = support::constant_policy(0.5);
    domain::PolicyId rules;
    std::unique_ptr<StopButtons> buttons;
    std::optional<base::TimePoint> joined;
    base::Status clock_known;
    base::Status opened;
    int next = 1;

  private:
    support::MemoryLog* leases_;
};

TEST(StopButtonsTest, StopAtOnceUntilTheyAreReleasedAndOverARestart) {
    StoppedNode node;
    ASSERT_TRUE(node.opened);
    EXPECT_TRUE(node.explores());
    const auto stop = node.buttons->press(StopKind::kExplorationOff, "anna", "noise").value();
    EXPECT_EQ(node.audited(), "press_stop anna: noise");
    EXPECT_FALSE(node.explores());
    EXPECT_FALSE(node.rules_decide());
    EXPECT_EQ(node.buttons->press(StopKind::kExplorationOff, "bert", "again").value(), stop);
    ASSERT_TRUE(node.buttons->press(StopKind::kRulesOnly, "bert", "harm"));
    EXPECT_TRUE(node.rules_decide());
    ASSERT_TRUE(node.stores.service.service->set_stops({}));  // a new process knows of none
    node.start();
    EXPECT_TRUE(node.rules_decide());
    EXPECT_FALSE(node.explores());
    ASSERT_TRUE(node.buttons->release(StopKind::kRulesOnly, "carl", "mended").value());
    EXPECT_EQ(node.audited(), "release_stop carl: mended");
    EXPECT_FALSE(node.rules_decide());
    EXPECT_FALSE(node.explores());
    EXPECT_FALSE(node.buttons->release(StopKind::kRulesOnly, "carl", "again").value());
    ASSERT_TRUE(node.buttons->release(StopKind::kExplorationOff, "carl", "mended").value());
    EXPECT_TRUE(node.explores());
    EXPECT_TRUE(node.stores.registry->verify_audit());
}

TEST(StopButtonsTest, AnotherChampionOrAssignmentEndsNoStop) {
    StoppedNode node;
    ASSERT_TRUE(node.buttons->press(StopKind::kRulesOnly, "anna", "harm"));
    auto& service = *node.stores.service.service;
    ASSERT_TRUE(service.set_policy(support::constant_policy(0.25), false));
    EXPECT_TRUE(node.rules_decide());
    EXPECT_EQ(service.policy()->id(), support::constant_policy(0.25)->id) << "the champion";
}

TEST(StopButtonsTest, AClockThatGoesBackKeepsNoneFromBeingPressed) {
    StoppedNode node;
    ASSERT_TRUE(node.buttons->press(StopKind::kExplorationOff, "anna", "noise"));
    node.stores.service.clock.move(base::Duration::days(-90));
    ASSERT_TRUE(node.buttons->press(StopKind::kRulesOnly, "anna", "harm"));
    EXPECT_TRUE(node.rules_decide());
    ASSERT_TRUE(node.buttons->release(StopKind::kExplorationOff, "anna", "mended").value());
    const auto periods = node.stores.registry->stopped_periods();
    EXPECT_EQ(periods[1].from, day(100)) << "nothing is dated back";
    EXPECT_EQ(periods[0].to, day(100));
}

TEST(StopButtonsTest, WithoutTheFirstPolicyRulesCannotDecideAndTheRestCanBeStopped) {
    StoppedNode node;
    ASSERT_TRUE(node.buttons->press(StopKind::kRulesOnly, "anna", "harm"));
    node.stores.damage_model(node.rules);
    node.start();
    EXPECT_TRUE(node.opened) << "who starts it can end the stop";
    EXPECT_EQ(node.refusal(), "no_policy") << "and not by the champion";
    EXPECT_FALSE(node.stores.service.health.report(runtime::Probe::kReady).ok());
    ASSERT_TRUE(node.buttons->press(StopKind::kExplorationOff, "anna", "noise"));
    ASSERT_TRUE(node.buttons->release(StopKind::kExplorationOff, "anna", "noise").value());
    ASSERT_TRUE(node.buttons->release(StopKind::kRulesOnly, "anna", "damaged").value());
    node.start();
    EXPECT_TRUE(node.opened);
    EXPECT_EQ(node.buttons->press(StopKind::kRulesOnly, "anna", "harm").error().reason,
              "model_digest");
    EXPECT_TRUE(node.buttons->press(StopKind::kExplorationOff, "anna", "harm"));
    EXPECT_FALSE(node.explores());
}

class TwoButtons : public testing::Test {
  protected:
    TwoButtons() {
        log_.create("leases", 1);
        a_ = std::make_unique<StoppedNode>(&log_);
        b_ = std::make_unique<StoppedNode>(&log_);
    }
    support::MemoryLog log_;
    std::unique_ptr<StoppedNode> a_, b_;
};

TEST_F(TwoButtons, WhatOneNodePressesTheOtherFollowsAndMayEnd) {
    const auto stop = a_->buttons->press(StopKind::kRulesOnly, "anna", "harm").value();
    EXPECT_FALSE(b_->rules_decide());
    ASSERT_TRUE(b_->buttons->follow());
    EXPECT_TRUE(b_->rules_decide());
    EXPECT_EQ(b_->stores.registry->stops(), std::vector{stop});
    EXPECT_EQ(b_->audited(), "press_stop anna: harm");
    const auto ended = b_->buttons->release(StopKind::kRulesOnly, "bert", "mended").value();
    EXPECT_EQ(ended->period.to, day(100) + kStopFollow);
    EXPECT_FALSE(b_->rules_decide());
    ASSERT_TRUE(a_->buttons->follow());
    EXPECT_FALSE(a_->rules_decide());
    EXPECT_EQ(a_->stores.registry->stops(), std::vector{*ended});
    ASSERT_TRUE(a_->buttons->press(StopKind::kRulesOnly, "anna", "harm again"));
    ASSERT_TRUE(b_->buttons->follow());
    EXPECT_TRUE(b_->rules_decide());
}

TEST_F(TwoButtons, ANodeThatComesLaterKnowsAllOfThem) {
    ASSERT_TRUE(a_->buttons->press(StopKind::kRulesOnly, "anna", "harm"));
    ASSERT_TRUE(a_->buttons->release(StopKind::kRulesOnly, "anna", "mended").value());
    ASSERT_TRUE(a_->buttons->press(StopKind::kExplorationOff, "anna", "noise"));
    StoppedNode c(&log_);
    ASSERT_TRUE(c.opened);
    EXPECT_FALSE(c.explores());
    EXPECT_FALSE(c.rules_decide());
    EXPECT_EQ(c.stores.registry->stops().size(), 2u);
}

TEST_F(TwoButtons, TheSameButtonPressedAtBothIsEndedByOneRelease) {
    ASSERT_TRUE(a_->stores.registry->press_stop(StopKind::kRulesOnly, day(100), "anna", "harm"));
    ASSERT_TRUE(b_->stores.registry->press_stop(StopKind::kRulesOnly, day(100), "bert", "harm"));
    for (int turn = 0; turn < 2; ++turn)
        for (auto* node : {a_.get(), b_.get()}) ASSERT_TRUE(node->buttons->follow());
    EXPECT_EQ(a_->stores.registry->stops().size(), 2u);
    ASSERT_TRUE(a_->buttons->release(StopKind::kRulesOnly, "anna", "mended").value());
    ASSERT_TRUE(b_->buttons->follow());
    EXPECT_FALSE(a_->rules_decide());
    EXPECT_FALSE(b_->rules_decide());
}

TEST_F(TwoButtons, ANodeThatCannotReachTheLogStopsByItselfAndIsHeardLater) {
    log_.topics["leases"].failure = {base::ErrorCode::kUnavailable, "no_broker", "away"};
    const auto pressed = a_->buttons->press(StopKind::kRulesOnly, "anna", "harm");
    ASSERT_FALSE(pressed);
    EXPECT_EQ(pressed.error().reason, "no_broker");
    EXPECT_NE(pressed.error().message.find("done at this node"), std::string::npos);
    EXPECT_TRUE(a_->rules_decide());
    EXPECT_FALSE(b_->buttons->follow());
    log_.topics["leases"].failure = {};
    ASSERT_TRUE(a_->buttons->follow());
    ASSERT_TRUE(b_->buttons->follow());
    EXPECT_TRUE(b_->rules_decide());
}

TEST_F(TwoButtons, APressStopsBeforeTheLogIsAsked) {
    std::vector<bool> explored;
    const AskedLog log(log_, [&] {
        explored.push_back(a_->explores());
        return base::ok();
    });
    a_->start(&log);
    ASSERT_FALSE(explored.empty());
    EXPECT_TRUE(explored.back());
    explored.clear();
    ASSERT_TRUE(a_->buttons->press(StopKind::kExplorationOff, "anna", "noise"));
    ASSERT_FALSE(explored.empty());
    for (const bool one : explored) EXPECT_FALSE(one) << "a log that hangs holds up no stop";
}

TEST_F(TwoButtons, ANodeWhoseRulesAreDamagedDecidesNothingWhereRulesOnlyDo) {
    b_->stores.damage_model(b_->rules);
    b_->start();
    ASSERT_TRUE(b_->opened);
    ASSERT_TRUE(a_->buttons->press(StopKind::kRulesOnly, "anna", "harm"));
    ASSERT_TRUE(a_->buttons->press(StopKind::kExplorationOff, "anna", "noise"));
    EXPECT_TRUE(b_->buttons->follow()) << "joining and erasing go on";
    EXPECT_EQ(b_->refusal(), "no_policy");
    EXPECT_FALSE(b_->stores.service.health.report(runtime::Probe::kReady).ok());
    ASSERT_TRUE(a_->buttons->release(StopKind::kRulesOnly, "anna", "mended").value());
    ASSERT_TRUE(b_->buttons->follow());
    EXPECT_FALSE(b_->explores());
}

TEST_F(TwoButtons, APressHoldsWhereTheEndOfTheOneBeforeIsHeardWithIt) {
    ASSERT_TRUE(a_->buttons->press(StopKind::kExplorationOff, "anna", "noise"));
    ASSERT_TRUE(b_->buttons->follow());
    ASSERT_TRUE(a_->buttons->release(StopKind::kExplorationOff, "anna", "quiet").value());
    const auto pressed = b_->buttons->press(StopKind::kExplorationOff, "bert", "harm");
    ASSERT_TRUE(pressed);
    EXPECT_EQ(pressed->period.who, "bert");
    EXPECT_FALSE(b_->explores());
    ASSERT_TRUE(a_->buttons->follow());
    EXPECT_FALSE(a_->explores());
    EXPECT_EQ(b_->audited(), "press_stop bert: harm");
}

TEST_F(TwoButtons, APressHoldsWhereTheEndOfTheOneBeforeIsHeardLater) {
    ASSERT_TRUE(a_->buttons->press(StopKind::kExplorationOff, "anna", "noise"));
    ASSERT_TRUE(b_->buttons->follow());
    ASSERT_TRUE(a_->buttons->release(StopKind::kExplorationOff, "anna", "quiet").value());
    bool away = true;
    const AskedLog log(log_, [&] {
        return away ? base::make_error(base::Reason::kTimeout, "the broker is away")
                    : base::Status();
    });
    b_->start(&log);
    // by the same person for the same reason, too
    const auto pressed = b_->buttons->press(StopKind::kExplorationOff, "anna", "noise");
    EXPECT_EQ(pressed.error().code, base::ErrorCode::kUnavailable);
    EXPECT_FALSE(b_->explores());
    away = false;
    ASSERT_TRUE(b_->buttons->follow());
    EXPECT_FALSE(b_->explores()) << "the end is of another stop";
    ASSERT_TRUE(a_->buttons->follow());
    EXPECT_FALSE(a_->explores());
}

TEST_F(TwoButtons, WhileTheLogIsAwayOnePressIsOnRecordHoweverOftenItIsPressed) {
    ASSERT_TRUE(a_->buttons->press(StopKind::kRulesOnly, "anna", "harm"));
    log_.topics["leases"].failure = {base::ErrorCode::kUnavailable, "no_broker", "away"};
    for (const char* who : {"anna", "bert", "anna", "carl"})
        for (const char* why : {"harm", "more harm"})
            EXPECT_FALSE(a_->buttons->press(StopKind::kRulesOnly, who, why));
    EXPECT_EQ(a_->stores.registry->stops().size(), 2u) << "the first may have been ended elsewhere";
    a_->start();  // the log is not known to lack what an earlier process had on record
    EXPECT_FALSE(a_->buttons->press(StopKind::kRulesOnly, "anna", "harm"));
    EXPECT_FALSE(a_->buttons->press(StopKind::kRulesOnly, "anna", "harm"));
    EXPECT_EQ(a_->stores.registry->stops().size(), 3u);
    log_.topics["leases"].failure = {};
    ASSERT_TRUE(a_->buttons->release(StopKind::kRulesOnly, "anna", "mended").value());
    EXPECT_FALSE(a_->rules_decide()) << "all are ended";
}

TEST(StopButtonsTest, AfterAHundredEndsInADayAStopStays) {
    StoppedNode node;
    const auto release = [&] {
        return node.buttons->release(StopKind::kExplorationOff, "anna", "quiet");
    };
    for (size_t i = 0; i < StopButtons::kMostEnds; ++i) {
        ASSERT_TRUE(node.buttons->press(StopKind::kExplorationOff, "anna", "noise"));
        ASSERT_TRUE(release()) << i;
    }
    ASSERT_TRUE(node.buttons->press(StopKind::kExplorationOff, "anna", "noise"))
        << "to stop is always possible";
    EXPECT_EQ(release().error().reason, "too_many_stops");
    EXPECT_FALSE(node.explores());
    node.stores.service.clock.move(base::Duration::seconds(86'401));
    ASSERT_TRUE(release());
    EXPECT_TRUE(node.explores());
}

TEST(StopButtonsTest, WhereTheClockIsInDoubtNoPeriodEndsAndAPressIsOfTheTimeThatIsJoined) {
    StoppedNode node;
    node.joined = day(100);
    node.stores.service.clock.move(base::Duration::days(3650));
    node.clock_known = base::make_error(Reason::kClockJump, "ten years");
    const auto pressed = node.buttons->press(StopKind::kExplorationOff, "anna", "noise");
    ASSERT_TRUE(pressed);
    EXPECT_EQ(pressed->period.from, day(100));
    EXPECT_EQ(node.buttons->release(StopKind::kExplorationOff, "anna", "quiet").error().reason,
              "clock_jump");
    EXPECT_FALSE(node.explores()) << "it lasts";
    node.clock_known = base::ok();
    node.stores.service.clock.move(base::Duration::days(-3649));
    EXPECT_EQ(node.buttons->release(StopKind::kExplorationOff, "anna", "quiet").value()->period.to,
              day(101));
}

TEST_F(TwoButtons, TimesOfAnotherClockAreTakenAsTheyCanHaveBeen) {
    a_->stores.service.clock.move(base::Duration::days(-30));
    ASSERT_TRUE(a_->buttons->press(StopKind::kRulesOnly, "anna", "harm"));
    b_->joined = day(99);
    ASSERT_TRUE(b_->buttons->follow());
    EXPECT_EQ(b_->stores.registry->stopped_periods()[0].from, day(99) - base::Duration::seconds(60))
        << "what was joined by then was read without a stop";
    a_->stores.service.clock.move(base::Duration::days(90));
    ASSERT_TRUE(a_->buttons->release(StopKind::kRulesOnly, "anna", "mended").value());
    ASSERT_TRUE(b_->buttons->follow());
    EXPECT_EQ(b_->stores.registry->stopped_periods()[0].to, day(100) + kStopFollow)
        << "it has ended by now";
}

TEST_F(TwoButtons, WhatIsReferredToPeopleIsSoAtBoth) {
    const auto refers = [](StoppedNode& node) { return node.decide().p_refer == 1; };
    ASSERT_TRUE(a_->buttons->press(StopKind::kReferAll, "anna", "harm"));
    EXPECT_FALSE(refers(*b_));
    ASSERT_TRUE(b_->buttons->follow());
    EXPECT_TRUE(refers(*b_));
    ASSERT_TRUE(b_->buttons->release(StopKind::kReferAll, "bert", "mended").value());
    ASSERT_TRUE(a_->buttons->follow());
    EXPECT_FALSE(refers(*a_));
}

TEST(StopRoutesTest, PressListAndEnd) {
    StoppedNode node;
    support::Asking api(StopRoutes(*node.buttons, *node.stores.registry));
    EXPECT_EQ(api.said("GET", "/v1/stops"), R"(200 {"in_force":[],"stops":[]})");
    const auto pressed = api.said("POST", "/v1/stops/rules-only", R"({"reason":"harm"})");
    const auto id = node.stores.registry->stops().at(0).id;
    EXPECT_EQ(pressed, fmt::format(R"(200 {{"stop":{{"id":"{}","name":"rules-only",)"
                                   R"("from":"1970-04-11T00:00:00Z","by":"anna","reason":"harm",)"
                                   R"("to":null,"ended_by":null,"end_reason":null}}}})",
                                   id));
    EXPECT_EQ(api.said("POST", "/v1/stops/rules-only", R"({"reason":"more"})"), pressed);
    EXPECT_TRUE(node.rules_decide());
    ASSERT_EQ(api.ask("POST", "/v1/stops/exploration", R"({"reason":"noise"})").status, 200);
    EXPECT_TRUE(api.said("GET", "/v1/stops")
                    .starts_with(R"(200 {"in_force":["exploration","rules-only"],"stops":[{)"));
    http::Request request;
    request.method = "DELETE";
    ASSERT_TRUE(http::parse_target("/v1/stops/rules-only?reason=mended%20now", request));
    request.headers = {{"Authorization", "Bearer t"}};
    http::Router router(access::one_token("t", {"bert", access::Scopes::all()}));
    StopRoutes(*node.buttons, *node.stores.registry).add_to(router);
    auto again = request;
    EXPECT_NE(router.handle(std::move(request)).body.find(R"("end_reason":"mended now")"),
              std::string::npos);
    EXPECT_EQ(router.handle(std::move(again)).body, R"({"stop":null})") << "idempotent";
    EXPECT_FALSE(node.rules_decide());
}

TEST(StopRoutesTest, AllAreReferredToPeopleFromThePressToTheEnd) {
    StoppedNode node;
    support::Asking api(StopRoutes(*node.buttons, *node.stores.registry));
    const auto refers = [](const domain::Decision& one) {
        return one.action == domain::Action::kRefer && one.p_refer == 1;
    };
    EXPECT_FALSE(refers(node.decide()));
    ASSERT_EQ(api.ask("POST", "/v1/stops/refer-all", R"({"reason":"harm"})").status, 200);
    const auto under = node.decide();
    EXPECT_TRUE(refers(under));
    ASSERT_TRUE(node.buttons->press(StopKind::kRulesOnly, "anna", "harm"));
    EXPECT_TRUE(refers(node.decide())) << "people decide, whatever else is stopped";
    EXPECT_TRUE(api.said("GET", "/v1/stops")
                    .starts_with(R"(200 {"in_force":["refer-all","rules-only"],"stops":[{)"));
    node.start();
    EXPECT_TRUE(refers(node.decide())) << "also after a restart";
    ASSERT_TRUE(node.buttons->release(StopKind::kReferAll, "anna", "mended").value());
    EXPECT_FALSE(refers(node.decide()));
    EXPECT_EQ(node.stores.service.decide(under.application), under) << "what was decided stays";
    const auto periods = node.stores.registry->stopped_periods();
    ASSERT_EQ(periods.size(), 2u);
    EXPECT_EQ(periods[0].kind, StopKind::kReferAll);
    EXPECT_TRUE(periods[0].to);
}

TEST(StopRoutesTest, RefuseWhatIsNoStopAndNoReason) {
    StoppedNode node;
    support::Asking api(StopRoutes(*node.buttons, *node.stores.registry));
    const std::string why = R"({"reason":"harm"})";
    EXPECT_EQ(api.said("POST", "/v1/stops/refer", why), "404 unknown_stop");
    EXPECT_EQ(api.said("POST", "/v1/stops/rules_only", why), "404 unknown_stop");
    EXPECT_EQ(api.said("POST", "/v1/stops/rules-only", R"({"reason":""})"), "400 reason_missing");
    EXPECT_EQ(api.said("POST", "/v1/stops/rules-only", R"({})"), "400 missing_field");
    EXPECT_EQ(api.said("DELETE", "/v1/stops/rules-only"), "400 reason_missing");
    http::Router router(access::one_token("t", {"bert", access::Scopes::all()}));
    StopRoutes(*node.buttons, *node.stores.registry).add_to(router);
    for (const auto& reason : {std::string("%FC"), std::string(1025, 'a')}) {
        http::Request request;
        request.method = "DELETE";
        request.headers = {{"Authorization", "Bearer t"}};
        ASSERT_TRUE(http::parse_target("/v1/stops/rules-only?reason=" + reason, request));
        EXPECT_EQ(router.handle(std::move(request)).reason, "audit_entry");
    }
    EXPECT_EQ(api.said("DELETE", "/v1/stops/refer"), "404 unknown_stop");
    EXPECT_EQ(api.ask("GET", "/v1/stops", "", "wrong").status, 401);
    EXPECT_TRUE(node.stores.registry->stops().empty());
}

}  // namespace
}  // namespace rampart::rampartd
