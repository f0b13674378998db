#include "services/rampartd/decision_search.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>

#include "rampart/base/reasons.hpp"
#include "rampart/http/router.hpp"
#include "services/rampartd/api/search_routes.hpp"
#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"

namespace rampart::rampartd {
namespace {

using support::day;
using Names = std::vector<std::string>;

/// Thirty decisions in three partitions, of ten persons; two fall on each day.
class DecisionSearchTest : public testing::Test {
  protected:
    DecisionSearchTest() {
        log_.create("decisions", 3);
        log_.create("outcomes", 3);
        std::filesystem::remove_all(folder_);
        joiner_ = joiner::OutcomeJoiner::open(
                      folder_, {.product = support::two_measure_product(), .partitions = 3}, log_)
                      .value();
        for (int i = 0; i < 30; ++i) {
            auto one = support::make_decision(fmt::format("{:02}", i), day(i / 2), i % 3 != 0);
            one.id = domain::decision_id_of(one.application.id);
            one.application.person = domain::PersonId(fmt::format("p-{}", i % 10));
            one.policy = domain::PolicyId(i < 20 ? "first" : "second");
            if (i % 5 == 0) one.reasons = {"random_draw_in_ramp"};
            const auto record = support::to_record(one);
            EXPECT_TRUE(log_.append("decisions", {&record, 1}));
            all_.push_back(one);
        }
        while (joiner_->poll(100).value().records > 0) continue;
        const auto rejected = joiner_->list_quarantined(1).value();
        EXPECT_TRUE(rejected.empty()) << rejected[0].message;
    }
    ~DecisionSearchTest() override {
        joiner_.reset();
        std::filesystem::remove_all(folder_);
    }
    DecisionPage find(const std::map<std::string, std::string>& query) const {
        const auto search = parse_decision_search(query);
        EXPECT_TRUE(search) << search.error().message;
        return find_decisions(*joiner_, *search).value();
    }
    static Names names_of(const DecisionPage& page) {
        Names names;
        for (const auto& one : page.decisions)
            names.emplace_back(boost::json::parse(one).at("decision_id").as_string());
        return names;
    }
    /// Returns the ids of all pages.
    Names all_of(std::map<std::string, std::string> query) const {
        Names names;
        while (names.size() <= all_.size()) {  // one in two pages is one too many
            const auto page = find(query);
            const auto more = names_of(page);
            names.insert(names.end(), more.begin(), more.end());
            if (!page.next) return names;
            query["cursor"] = cursor_of(*page.next);
        }
        return names;
    }
    /// Returns the ids of those that fit, in their order.
    template <class Fits>
    Names expected(const Fits& fits) const {
        std::vector<DecisionPlace> places;
        for (const auto& one : all_)
            if (fits(one)) places.push_back({one.application.event_time, one.id.value()});
        std::sort(places.begin(), places.end());
        Names names;
        for (const auto& place : places) names.push_back(place.id);
        return names;
    }

    const std::filesystem::path folder_ =
        std::filesystem::path(testing::TempDir()) / fmt::format("decision_search.{}", ::getpid());
    support::MemoryLog log_;
    std::unique_ptr<joiner::OutcomeJoiner> joiner_;
    std::vector<domain::Decision> all_;
};

TEST_F(DecisionSearchTest, EachFilterLeavesWhatFitsInTheOrderOfTimeInPagesOfEveryLength) {
    const auto every = expected([](const auto&) { return true; });
    ASSERT_EQ(every.size(), 30u);
    for (const char* limit : {"1", "7", "30", "1000"})
        EXPECT_EQ(all_of({{"limit", limit}}), every) << limit;
    const auto of_person =
        expected([](const auto& one) { return one.application.person.value() == "p-3"; });
    EXPECT_EQ(of_person.size(), 3u);
    EXPECT_EQ(all_of({{"person", "p-3"}, {"limit", "2"}}), of_person);
    EXPECT_EQ(all_of({{"application", all_[4].application.id.value()}}), Names{all_[4].id.value()});
    EXPECT_EQ(all_of({{"policy", "second"}, {"limit", "3"}}),
              expected([](const auto& one) { return one.policy.value() == "second"; }));
    EXPECT_EQ(all_of({{"action", "decline"}, {"limit", "3"}}),
              expected([](const auto& one) { return one.action == domain::Action::kDecline; }));
    EXPECT_EQ(all_of({{"reason", "random_draw_in_ramp"}}),
              expected([](const auto& one) { return !one.reasons.empty(); }));
    EXPECT_EQ(all_of({{"from", base::to_iso8601(day(3))}, {"to", base::to_iso8601(day(5))}}),
              expected([](const auto& one) {
                  return one.application.event_time >= day(3) &&
                         one.application.event_time < day(5);
              }));
}

TEST_F(DecisionSearchTest, NewestFirstIsTheSameBackwardsInPagesOfEveryLength) {
    auto every = expected([](const auto&) { return true; });
    std::reverse(every.begin(), every.end());
    for (const char* limit : {"1", "7", "30", "1000"})
        EXPECT_EQ(all_of({{"limit", limit}, {"order", "newest"}}), every) << limit;
    EXPECT_EQ(all_of({{"order", "oldest"}}), all_of({}));
    auto of_person =
        expected([](const auto& one) { return one.application.person.value() == "p-3"; });
    std::reverse(of_person.begin(), of_person.end());
    EXPECT_EQ(all_of({{"person", "p-3"}, {"limit", "2"}, {"order", "newest"}}), of_person);
    auto between = expected([](const auto& one) {
        return one.policy.value() == "first" && one.application.event_time >= day(3) &&
               one.application.event_time < day(8);
    });
    std::reverse(between.begin(), between.end());
    EXPECT_EQ(between.size(), 10u);
    EXPECT_EQ(all_of({{"policy", "first"},
                      {"from", base::to_iso8601(day(3))},
                      {"to", base::to_iso8601(day(8))},
                      {"limit", "3"},
                      {"order", "newest"}}),
              between);
    EXPECT_EQ(find({{"limit", "2"}, {"order", "newest"}}).looked_at, 2u) << "not the whole";
    EXPECT_TRUE(filters_of(parse_decision_search({{"order", "newest"}}).value()).empty())
        << "the same decisions are asked for";
}

TEST_F(DecisionSearchTest, FiltersHoldTogether) {
    EXPECT_EQ(all_of({{"person", "p-3"}, {"action", "decline"}}), expected([](const auto& one) {
                  return one.application.person.value() == "p-3" &&
                         one.action == domain::Action::kDecline;
              }));
    EXPECT_EQ(all_of({{"person", "p-3"}, {"policy", "second"}, {"to", "2999-01-01"}}).size(), 1u);
    EXPECT_TRUE(
        all_of({{"application", all_[4].application.id.value()}, {"person", "p-9"}}).empty());
    EXPECT_TRUE(all_of({{"person", "unknown"}}).empty());
    EXPECT_TRUE(all_of({{"from", "2999-01-01"}}).empty());
}

TEST_F(DecisionSearchTest, APageSaysWhatWasLookedAtAndWhetherThereIsMore) {
    const auto page = find({{"action", "decline"}, {"limit", "2"}});
    EXPECT_EQ(page.decisions.size(), 2u);
    EXPECT_TRUE(page.next);
    EXPECT_GE(page.looked_at, 2u);
    EXPECT_LT(page.looked_at, 10u);
    EXPECT_FALSE(find({}).next);
    EXPECT_EQ(find({{"policy", "third"}}).looked_at, 30u);
    DecisionSearch few;
    few.policy = "second";
    few.most_looked_at = 4;
    const auto none = find_decisions(*joiner_, few).value();
    EXPECT_TRUE(none.decisions.empty());
    EXPECT_EQ(none.looked_at, 4u);
    ASSERT_TRUE(none.next) << "there may be more";
    size_t pages = 0, found = 0;
    for (bool more = true; more && pages < 30; ++pages) {
        const auto next = find_decisions(*joiner_, few).value();
        found += next.decisions.size();
        more = next.next.has_value();
        few.after = next.next;
    }
    EXPECT_EQ(found, 10u);
    EXPECT_EQ(pages, 8u) << "30 decisions, four for a page";
}

TEST_F(DecisionSearchTest, APageBeginsBehindTheOneBeforeAlsoWhereManyHaveOneTime) {
    DecisionSearch search;
    search.limit = 1;
    for (size_t pages = 0; pages < all_.size(); ++pages) {
        const auto page = find_decisions(*joiner_, search).value();
        EXPECT_EQ(page.looked_at, 1u);
        search.after = page.next;
    }
    EXPECT_TRUE(find_decisions(*joiner_, search).value().decisions.empty());
    // a later `from` than the cursor's, which another search has given
    search.after = DecisionPlace{day(2), "zzz"};
    search.from = day(5);
    search.limit = 100;
    EXPECT_EQ(names_of(find_decisions(*joiner_, search).value()),
              expected([](const auto& one) { return one.application.event_time >= day(5); }));
}

TEST_F(DecisionSearchTest, APageEndsWhereItsBytesAreReached) {
    DecisionSearch search;
    search.page_bytes = 1;
    const auto first = find_decisions(*joiner_, search).value();
    EXPECT_EQ(first.decisions.size(), 1u);
    ASSERT_TRUE(first.next);
    search.page_bytes = 2 * first.decisions[0].size();
    search.after = first.next;
    EXPECT_LE(find_decisions(*joiner_, search).value().decisions.size(), 3u);
    search.person = "p-3";
    search.after.reset();
    search.page_bytes = 1;
    EXPECT_EQ(find_decisions(*joiner_, search).value().decisions.size(), 1u);
}

TEST(DecisionSearchQuery, FiltersOfTheAuditLogNameNoPersonAndNoApplication) {
    const std::map<std::string, std::string> query{{"policy", "second"},
                                                   {"action", "decline"},
                                                   {"reason", "random_draw_in_ramp"},
                                                   {"from", "2020-01-02T00:00:00Z"},
                                                   {"to", "2020-01-03T00:00:00Z"}};
    auto search = parse_decision_search(query).value();
    search.person = "p-3";
    search.application = "a-3";
    EXPECT_EQ(filters_of(search), query);
    EXPECT_TRUE(filters_of({}).empty());
}

TEST(DecisionSearchQuery, NamesWhatIsWrong) {
    for (const auto& [name, text, reason] : std::vector<std::array<std::string, 3>>{
             {"action", "perhaps", "bad_usage"},
             {"order", "random", "bad_usage"},
             {"order", "", "missing_field"},
             {"limit", "0", "bad_number"},
             {"limit", "1001", "bad_number"},
             {"limit", "3x", "bad_number"},
             {"from", "soon", "bad_time"},
             {"person", "", "missing_field"},
             {"colour", "red", "unknown_field"},
             {"cursor", "7", "bad_usage"},
             {"cursor", "x.y", "bad_usage"},
             {"cursor", "99999999999999999999.y", "bad_usage"}}) {
        const auto read = parse_decision_search({{name, text}});
        ASSERT_FALSE(read) << name << "=" << text;
        EXPECT_EQ(read.error().reason, reason) << name << "=" << text;
        EXPECT_NE(read.error().message.find("$." + name), std::string::npos)
            << read.error().message;
    }
    EXPECT_FALSE(parse_decision_search({{"from", "2020-01-02"}, {"to", "2020-01-02"}}));
    EXPECT_FALSE(parse_decision_search({{"person", std::string(1000, 'x')}}));
}

TEST_F(DecisionSearchTest, EverySearchIsRecordedBeforeItsAnswerIsShown) {
    std::vector<std::string> recorded;
    base::Status outcome;
    const SearchRoutes routes(*joiner_, [&](const auto& search, const auto& person, auto by) {
        recorded.push_back(fmt::format("{} asked for {} {} of {}", by, search.limit,
                                       search.application, person ? person->value() : "any"));
        return outcome;
    });
    http::Router router(access::one_token("t", {"anna", access::Scopes::parse({"audit"}).value()}));
    routes.add_to(router);
    const auto get = [&](const std::string& target) {
        http::Request request;
        request.method = "GET";
        request.headers = {{"Authorization", "Bearer t"}};
        EXPECT_TRUE(http::parse_target(target, request));
        return router.handle(std::move(request));
    };
    const auto some = get("/v1/decisions?limit=2");
    EXPECT_EQ(some.status, 200) << some.body;
    EXPECT_NE(some.body.find("\"looked_at\":2"), std::string::npos) << some.body;
    EXPECT_NE(some.body.find("\"next_cursor\":\""), std::string::npos) << some.body;
    EXPECT_EQ(get("/v1/decisions?person=unknown").status, 200);
    EXPECT_EQ(get("/v1/decisions?person=p-3").status, 200);
    const auto application = all_[13].application.id.value();
    EXPECT_EQ(get("/v1/decisions?application=" + application).status, 200);
    EXPECT_EQ(get("/v1/decisions?application=none").status, 200);
    EXPECT_EQ(recorded,
              (std::vector<std::string>{
                  "anna asked for 2  of any", "anna asked for 100  of unknown",
                  "anna asked for 100  of p-3", "anna asked for 100 " + application + " of p-3",
                  "anna asked for 100 none of any"}));
    outcome = base::make_error(base::Reason::kBadUsage, "no audit log");
    EXPECT_EQ(get("/v1/decisions?person=p-3").status, 400) << "not shown without its record";
    EXPECT_EQ(get("/v1/decisions?who=p-3").status, 400);
}

}  // namespace
}  // namespace rampart::rampartd
