#include "services/rampartd/store_report.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <utility>

#include "services/rampartd/api/report_routes.hpp"
#include "support/small_node.hpp"

namespace rampart::rampartd {
namespace {

namespace json = boost::json;
using support::day;

constexpr const char* kSalt = "a salt of sixteen bytes or more";
constexpr int kPersons = 400;  // decided in January 1970; half of them are women

bool in_vault(int person) {
    return training_set::in_vault(kSalt, domain::PersonId(fmt::format("p-{}", person)));
}
bool is_woman(int person) { return person % 2 == 0; }
bool is_approved(int person) { return person % (is_woman(person) ? 4 : 3) == 0; }
bool is_lost(int person) { return person % 12 == 0; }

/// A store with decisions and outcomes; those of the vault are all good, or all lost.
class StoreReport : public testing::Test {
  protected:
    explicit StoreReport(bool vault_is_lost = false) {
        for (int i = 0; i < kPersons; ++i) {
            const auto name = fmt::format("{}", i);
            log(support::make_decision(name, day(i % 20), is_approved(i)), "decisions");
            if (is_approved(i)) {
                const bool lost = in_vault(i) ? vault_is_lost : is_lost(i);
                log(support::make_outcome(name, "repaid", 0, lost ? 0 : 1, day(30)), "outcomes");
            }
            const protected_attributes::ProtectedAttributes person{
                domain::PersonId("p-" + name), day(0), {{"sex", is_woman(i) ? "female" : "male"}}};
            EXPECT_TRUE(node.attributes->put({&person, 1}, day(0)));
        }
        for (int i = 0; i < 30; ++i)  // in March, and not matured
            log(support::make_decision(fmt::format("m{}", i), day(70)), "decisions");
        while (node.joiner->poll(100)->records > 0) continue;
        EXPECT_TRUE(node.joiner->advance(day(75)));
        node.bootstrap(day(0));
    }
    template <class Event>
    void log(const Event& event, std::string_view topic) {
        const auto record = support::to_record(event);
        EXPECT_TRUE(node.log.append(topic, {&record, 1}));
    }
    base::Result<std::string> text(const ReportRequest& request = {}) {
        return store_report({node.product, *node.builder, *node.registry, {}, day(75)}, request);
    }
    json::object report(const ReportRequest& request = {}) {
        return json::parse(text(request).value()).as_object();
    }
    std::string refusal(const std::string& from, const std::string& to) {
        const auto made = text({from, to, {}});
        return made ? "" : made.error().reason + ": " + made.error().message;
    }
    support::SmallNode node;
};

json::object of(const json::object& report, size_t group) {
    return report.at("groups").as_array().at(group).at("whole").as_object();
}
json::object month(const json::object& report, size_t group, size_t month) {
    return report.at("groups").as_array().at(group).at("months").as_array().at(month).as_object();
}

TEST_F(StoreReport, HasTheCountsOfPersonsOutsideTheVaultByGroupAndMonth) {
    int women = 0, approved = 0, lost = 0, men = 0, men_approved = 0;
    for (int i = 0; i < kPersons; ++i) {
        if (in_vault(i)) continue;
        (is_woman(i) ? women : men) += 1;
        (is_woman(i) ? approved : men_approved) += is_approved(i);
        lost += is_woman(i) && is_approved(i) && is_lost(i);
    }
    const auto made = report();
    ASSERT_EQ(made.at("groups").as_array().size(), 3u);
    const auto female = month(made, 1, 0);
    EXPECT_EQ(made.at("groups").as_array().at(1).at("group").as_string(), "sex=female");
    EXPECT_EQ(female.at("month").as_string(), "1970-01");
    EXPECT_EQ(female.at("decisions").to_number<int>(), women);
    EXPECT_EQ(female.at("approved").to_number<int>(), approved);
    EXPECT_EQ(female.at("matured").to_number<int>(), women);
    EXPECT_EQ(female.at("labelled").to_number<int>(), approved);
    EXPECT_EQ(female.at("impact_due").to_number<int>(), women);
    EXPECT_EQ(female.at("unfavourable").to_number<int>(), lost);
    EXPECT_DOUBLE_EQ(female.at("impact").at("value").as_double(),
                     (75.0 * (approved - lost) - 150.0 * lost) / women)
        << "a decline has the declared impact, 0";
    const double ratio = (1.0 * approved / women) / (1.0 * men_approved / men);
    const auto& compared = made.at("groups").as_array().at(women > men ? 2 : 1).as_object();
    EXPECT_EQ(compared.at("reference").as_string(), women > men ? "sex=female" : "sex=male");
    EXPECT_NEAR(compared.at("whole").at("impact_ratio").at("value").as_double(),
                women > men ? 1 / ratio : ratio, 1e-12);
    EXPECT_EQ(made.at("decided_by").as_array().at(0).at("decisions").to_number<int>(),
              of(made, 0).at("decisions").to_number<int>());
    EXPECT_EQ(made.at("promotions").as_array().at(0).at("kind").as_string(), "bootstrap");
}

TEST_F(StoreReport, WhatHasNotMaturedIsCountedAndInNoFigureOfOutcomes) {
    const auto made = report();
    const auto march = month(made, 0, 1);
    EXPECT_EQ(march.at("month").as_string(), "1970-03");
    EXPECT_GT(march.at("decisions").to_number<int>(), 0);
    EXPECT_EQ(march.at("matured").to_number<int>(), 0);
    EXPECT_TRUE(march.at("unfavourable_rate").is_null());
    EXPECT_TRUE(march.at("impact").is_null());
}

/// The same store, whose vault has other outcomes.
class OtherVault : public StoreReport {
  public:
    OtherVault() : StoreReport(true) {}
    void TestBody() override {}
    std::string all() { return text().value(); }
};

TEST_F(StoreReport, IsTheSameWhateverBecameOfTheVault) {
    OtherVault other;
    EXPECT_EQ(text().value(), other.all());
}

TEST_F(StoreReport, IsOfTheMonthsThatAreAskedFor) {
    const auto march = report({"1970-03", "1970-03", {}});
    EXPECT_EQ(march.at("groups").as_array().at(0).at("months").as_array().size(), 1u);
    EXPECT_EQ(march.at("from").as_string(), "1970-03");
    EXPECT_EQ(march.at("to").as_string(), "1970-03");
    EXPECT_EQ(report({"1980-01", "1980-02", {}}).at("decided_by").as_array().size(), 0u);
    EXPECT_EQ(report().at("from").as_string(), "1968-04") << "24 months up to the latest";
    EXPECT_EQ(
        report({"", "", {"sex=female"}}).at("groups").as_array().at(2).at("reference").as_string(),
        "sex=female");
}

TEST_F(StoreReport, AMonthThatIsNoneOrAPeriodThatIsTooLongIsRefusedByName) {
    EXPECT_EQ(refusal("1970", ""), "bad_period: from: '1970' is not a month");
    EXPECT_EQ(refusal("", "1970-13"), "bad_period: to: '1970-13' is not a month");
    EXPECT_EQ(refusal("", "1970-1"), "bad_period: to: '1970-1' is not a month");
    EXPECT_EQ(refusal("1970-04", "1970-03"), "bad_period: from: '1970-04' is after '1970-03'");
    EXPECT_EQ(refusal("1970-01", "1979-12"), "");
    EXPECT_EQ(refusal("1970-01", "1980-01").substr(0, 10), "bad_period");
    EXPECT_EQ(text({"", "", {"sex=other"}}).error().reason, "unknown_group");
}

TEST(ReportRoutes, HandOverWhatIsAskedFor) {
    ReportRequest asked;
    http::Router router(access::one_token("t"));
    std::function<void()> meanwhile = [] {};
    ReportRoutes([&](const ReportRequest& request) {
        asked = request;
        meanwhile();
        return base::Result<std::string>("{}");
    }).add_to(router);
    const auto ask = [&](const std::string& query, const std::string& token = "t") {
        http::Request request;
        request.method = "GET";
        request.headers = {{"Authorization", "Bearer " + token}};
        EXPECT_TRUE(http::parse_target("/v1/report" + query, request)) << query;
        return router.handle(request);
    };
    EXPECT_EQ(ask("?from=2005-01&to=2005-12&reference=sex%3Dmale%3Bage%3Dold").body, "{}");
    EXPECT_EQ(asked.from, "2005-01");
    EXPECT_EQ(asked.to, "2005-12");
    EXPECT_EQ(asked.references, (std::vector<std::string>{"sex=male", "age=old"}));
    const auto refused = ask("?month=2005-01");
    EXPECT_EQ(refused.status, 400);
    EXPECT_NE(refused.body.find("$.month"), std::string::npos) << refused.body;
    EXPECT_EQ(ask("?to=").status, 400);
    meanwhile = [&, first = true]() mutable {
        if (std::exchange(first, false)) {
            EXPECT_EQ(ask("").status, 503) << "one at a time";
        }
    };
    EXPECT_EQ(ask("").status, 200);
    EXPECT_EQ(ask("").status, 200) << "the first has ended";
    meanwhile = [] { throw std::bad_alloc(); };
    EXPECT_EQ(ask("").status, 500);
    meanwhile = [] {};
    EXPECT_EQ(ask("").status, 200) << "one that failed half way has ended, too";
    EXPECT_EQ(ask("", "wrong").status, 401);
}

}  // namespace
}  // namespace rampart::rampartd
