#include "services/rampartd/event_streams.hpp"

#include <gtest/gtest.h>

#include "rampart/registry/reasons.hpp"
#include "services/rampartd/api/event_routes.hpp"
#include "services/rampartd/reasons.hpp"
#include "support/set_clock.hpp"
#include "support/small_stores.hpp"

namespace rampart::rampartd {
namespace {

using support::day;
using Stream = std::shared_ptr<http::ResponseStream>;

size_t count_of(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

class EventStreamsTest : public testing::Test {
  protected:
    EventStreamsTest() {
        health_.add(runtime::Probe::kDegraded, "loop", [this] { return loop_; });
    }
    EventStreams::Deps deps() {
        const auto entries = [this] { return stores_.registry->audit_head().count; };
        const auto behind = [this](uint64_t from,
                                   size_t most) -> base::Result<std::vector<registry::AuditEntry>> {
            ++readings_;
            if (from < unreadable_before_)
                return base::make_error(registry::Reason::kAuditEdited, "damaged");
            return stores_.registry->audit_entries(from, most);
        };
        return {entries,
                behind,
                health_,
                [this] { return decisions_; },
                [this]() -> base::Result<EventStreams::Runs> { return runs_; },
                clock_};
    }
    /// Adds entries to the audit log.
    void record(size_t n = 1, const std::string& action = "accept_gap") {
        for (size_t i = 0; i < n; ++i)
            ASSERT_TRUE(stores_.registry->record_operation(day(1), "anna", action,
                                                           {{"person", "secret-tag"}}));
    }
    static EventKinds kinds(std::initializer_list<EventKind> some) {
        EventKinds out;
        for (const auto kind : some) out.add(kind);
        return out;
    }
    static EventKinds every() {
        EventKinds out;
        for (const auto& [kind, name] : kEventKinds) out.add(kind);
        return out;
    }
    Stream open(const EventKinds& wanted, std::optional<uint64_t> last = std::nullopt) {
        auto stream = events_.open(wanted, last);
        EXPECT_TRUE(stream) << stream.error().message;
        return *stream;
    }
    /// Returns what a turn sends, a second later.
    std::string turn(const Stream& stream) {
        clock_.move(base::Duration::seconds(1));
        EXPECT_TRUE(events_.turn());
        return stream->take().bytes;
    }

    support::SmallStores stores_;
    size_t readings_ = 0;
    uint64_t unreadable_before_ = 0;
    runtime::Health health_;
    base::Status loop_;
    EventStreams::Counts decisions_{{"approve", 10}, {"decline", 5}};
    EventStreams::Runs runs_;
    support::SetClock clock_{day(100)};
    EventStreams events_{deps(), 3};
};

TEST_F(EventStreamsTest, BeginNowAndGiveEachEntryOnceInOrder) {
    record(3);
    const auto stream = open(every());
    const auto begin = stream->take().bytes;
    EXPECT_TRUE(begin.starts_with("event: begin\nid: 3\n")) << begin;
    EXPECT_EQ(begin.find("event: gap"), std::string::npos);
    EXPECT_NE(begin.find("\"ready\":true"), std::string::npos);
    EXPECT_EQ(turn(stream), "") << "nothing has happened";
    record(2);
    const auto text = turn(stream);
    EXPECT_EQ(count_of(text, "event: audit"), 2u);
    EXPECT_LT(text.find("id: 4"), text.find("id: 5"));
    EXPECT_EQ(text.find("secret"), std::string::npos);
    EXPECT_EQ(turn(stream), "");
}

/// A follower that says which event it had last gets each entry behind it, however many, and is
/// informed of what is not kept.
TEST_F(EventStreamsTest, GoOnBehindTheLastEventWithoutLossOrRepetition) {
    record(450);
    for (const uint64_t last : {0u, 1u, 200u, 449u}) {
        const auto stream = open(kinds({EventKind::kAudit}), last);
        auto text = stream->take().bytes;
        EXPECT_NE(text.find("\"reason\":\"not_kept\""), std::string::npos) << text;
        EXPECT_NE(text.find("[\"run\",\"health\",\"decisions\"]"), std::string::npos) << text;
        for (auto more = turn(stream); !more.empty(); more = turn(stream)) {
            EXPECT_LE(more.size(), EventStreams::kMostWaiting);
            text += more;
        }
        EXPECT_EQ(count_of(text, "event: audit"), 450 - last);
        uint64_t next = last;
        for (size_t at = text.find("\"number\":", text.find("event: audit"));
             at != std::string::npos; at = text.find("\"number\":", at + 1))
            EXPECT_EQ(std::stoull(text.substr(at + 9)), ++next);
        stream->end();
    }
    const auto whole = open(kinds({EventKind::kAudit}), 450);
    EXPECT_EQ(count_of(whole->take().bytes, "event: gap"), 1u) << "the live ones are not kept";
    EXPECT_EQ(turn(whole), "");
}

TEST_F(EventStreamsTest, SayWhereAnIdIsOfAnotherLog) {
    record(3);
    const auto stream = open(every(), 4);
    const auto text = stream->take().bytes;
    EXPECT_TRUE(text.starts_with("event: begin\nid: 3\n")) << text;
    EXPECT_NE(text.find("\"reason\":\"unknown_id\""), std::string::npos) << text;
}

TEST_F(EventStreamsTest, OneWhoseEntriesCannotBeReadEndsAloneAndSaysSo) {
    record(5);
    const auto behind = open(every(), 1), other = open(every());
    behind->take();
    other->take();
    record();
    unreadable_before_ = 5;
    clock_.move(base::Duration::seconds(1));
    loop_ = base::make_error(Reason::kStopping, "x");
    EXPECT_FALSE(events_.turn()) << "the job says so";
    const auto last = behind->take();
    EXPECT_NE(last.bytes.find("event: end\ndata: {\"reason\":\"unreadable\"}"), std::string::npos);
    EXPECT_TRUE(last.ended);
    const auto text = other->take().bytes;
    EXPECT_NE(text.find("\"number\":6"), std::string::npos) << text;
    EXPECT_NE(text.find("event: health"), std::string::npos) << "the rest of the turn is done";
    EXPECT_TRUE(events_.turn());
}

TEST_F(EventStreamsTest, OfManyWhoAreBehindSomeAreReadForInEachTurn) {
    constexpr size_t kMany = 25;
    record(kMany + 1);
    EventStreams events(deps(), kMany);
    std::vector<Stream> streams;
    for (size_t i = 0; i < kMany; ++i) streams.push_back(events.open(every(), i).value());
    std::vector<size_t> each;
    for (bool all = false; !all;) {
        readings_ = 0;
        ASSERT_TRUE(events.turn());
        EXPECT_LE(readings_, 10u);
        each.push_back(readings_);
        ASSERT_LE(each.size(), kMany) << "some are never read for";
        all = readings_ == 0;
    }
    for (const auto& stream : streams)
        EXPECT_NE(stream->take().bytes.find(fmt::format("\"number\":{}", kMany + 1)),
                  std::string::npos);
}

TEST_F(EventStreamsTest, GiveAFollowerTheKindsThatItMayHaveAndNoOther) {
    const auto stream = open(kinds({EventKind::kAlarm, EventKind::kRun}));
    stream->take();
    record(2);
    record(1, "monitor_alarm");
    runs_.under_way = 1;
    decisions_["approve"] += 5;
    loop_ = base::Error{base::ErrorCode::kUnavailable, "slow", "secret-message"};
    const auto text = turn(stream);
    EXPECT_EQ(count_of(text, "event: "), 2u) << text;
    EXPECT_NE(text.find("event: alarm\nid: 3\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\"run\":1,\"state\":\"begun\""), std::string::npos) << text;
}

TEST_F(EventStreamsTest, SayWhenACheckFailsAndWhenItPassesAgain) {
    const auto stream = open(kinds({EventKind::kHealth}));
    stream->take();
    loop_ = base::Error{base::ErrorCode::kUnavailable, "slow", "secret-message"};
    const auto failed = turn(stream);
    EXPECT_NE(failed.find("\"check\":\"loop\",\"ok\":false,\"reason\":\"slow\",\"ready\":true"),
              std::string::npos)
        << failed;
    EXPECT_EQ(failed.find("secret"), std::string::npos);
    EXPECT_EQ(turn(stream), "") << "no change";
    const auto late = open(kinds({EventKind::kHealth}));
    EXPECT_NE(late->take().bytes.find("\"failing\":[\"loop\"]"), std::string::npos);
    loop_ = base::ok();
    EXPECT_NE(turn(stream).find("\"check\":\"loop\",\"ok\":true"), std::string::npos);
}

TEST_F(EventStreamsTest, SayWhenRunsBeginAndEndAlsoThoseBetweenTwoLooks) {
    const auto stream = open(kinds({EventKind::kRun}));
    stream->take();
    runs_ = {1, 0};
    EXPECT_EQ(count_of(turn(stream), "begun"), 1u);
    runs_ = {4, 3};
    const auto text = turn(stream);
    EXPECT_EQ(count_of(text, "\"state\":\"ended\""), 3u) << text;
    EXPECT_NE(text.find("\"run\":4,\"state\":\"begun\""), std::string::npos) << text;
    EXPECT_EQ(turn(stream), "");
}

TEST_F(EventStreamsTest, CountDecisionsASecondAndSayOnceThatThereAreNone) {
    const auto stream = open(kinds({EventKind::kDecisions}));
    stream->take();
    EXPECT_EQ(turn(stream), "");
    decisions_["approve"] += 30;
    clock_.move(base::Duration::seconds(1));  // two seconds in all
    EXPECT_NE(turn(stream).find("\"milliseconds\":2000,\"approve\":30,\"decline\":0"),
              std::string::npos);
    EXPECT_NE(turn(stream).find("\"milliseconds\":1000,\"approve\":0"), std::string::npos);
    EXPECT_EQ(turn(stream), "");
}

TEST_F(EventStreamsTest, GiveASignOfLifeWhereNothingHappens) {
    const auto stream = open(every());
    stream->take();
    std::string text;
    for (int i = 0; i < 46; ++i) text += turn(stream);
    EXPECT_EQ(count_of(text, ": heartbeat\nid: "), 3u) << text;
    clock_.move(base::Duration::seconds(-3600));
    EXPECT_TRUE(events_.turn()) << "a clock that was set back";
}

TEST_F(EventStreamsTest, AreAsManyAsMayBeAndEndedOnesCountNoMore) {
    std::vector<Stream> all;
    for (int i = 0; i < 3; ++i) all.push_back(open(every()));
    const auto refused = events_.open(every(), std::nullopt);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "too_many_streams");
    EXPECT_EQ(events_.count(), 3u);
    all[1]->cut();
    EXPECT_EQ(events_.count(), 2u);
    EXPECT_TRUE(events_.open(every(), std::nullopt));
}

/// A follower who takes nothing gets no more of the log than fits, is cut off when what is live
/// does not fit either, and takes nothing from the others.
TEST_F(EventStreamsTest, OfWhoTakesNothingAreCutOffAndDelayNoOther) {
    record(900);
    const auto slow = open(every(), 0), quick = open(every(), 0);
    size_t taken = 0;
    for (int i = 0; i < 30; ++i) taken += count_of(turn(quick), "event: audit");
    EXPECT_EQ(taken, 900u);
    EXPECT_LE(slow->waiting(), EventStreams::kMostWaiting);
    EXPECT_FALSE(slow->ended()) << "the log waits for it";
    for (int i = 0; i < 100'000 && !slow->ended(); ++i) {
        ++decisions_["approve"];
        turn(quick);
    }
    EXPECT_TRUE(slow->ended());
    EXPECT_FALSE(quick->ended());
}

TEST_F(EventStreamsTest, EndWithAWordAndOpenNoMore) {
    const auto stream = open(every());
    stream->take();
    events_.stop();
    const auto last = stream->take();
    EXPECT_EQ(last.bytes, "event: end\ndata: {\"reason\":\"stopping\"}\n\n");
    EXPECT_TRUE(last.ended);
    EXPECT_EQ(events_.open(every(), std::nullopt).error().reason, "stopping");
    EXPECT_TRUE(events_.turn());
}

TEST_F(EventStreamsTest, RoutesReadKindsAndTheLastEventAndAskForTheScope) {
    record(2);
    access::Scopes scopes{access::Scope::kRead};
    const auto get = [&](const std::string& target, const std::string& last = "") {
        http::Router router(access::one_token("t", {"anna", scopes}));
        EventRoutes(events_).add_to(router);
        http::Request request;
        request.method = "GET";
        request.headers = {{"Authorization", "Bearer t"}};
        if (!last.empty()) request.headers.push_back({"Last-Event-ID", last});
        EXPECT_TRUE(http::parse_target(target, request));
        return router.handle(std::move(request));
    };
    const auto all = get("/v1/events");
    EXPECT_EQ(all.status, 200);
    EXPECT_EQ(all.content_type, "text/event-stream");
    ASSERT_NE(all.stream, nullptr);
    EXPECT_EQ(all.stream->take().bytes.find("\"audit\""), std::string::npos);
    EXPECT_EQ(get("/v1/events?kinds=audit").status, 403);
    EXPECT_EQ(get("/v1/events?kinds=").status, 400);
    EXPECT_EQ(get("/v1/events", "x").status, 400);
    scopes.add(access::Scope::kAudit);
    const auto resumed = get("/v1/events?kinds=audit", "1");
    ASSERT_NE(resumed.stream, nullptr);
    EXPECT_NE(resumed.stream->take().bytes.find("\"kinds\":[\"audit\"]"), std::string::npos);
    EXPECT_EQ(count_of(turn(resumed.stream), "event: audit"), 1u);
    scopes = {access::Scope::kAudit};
    EXPECT_EQ(get("/v1/events").status, 403);
}

}  // namespace
}  // namespace rampart::rampartd
