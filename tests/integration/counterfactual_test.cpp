// `rampart counterfactual`: what would have changed a decline, on a store; and `explain --svg`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>

#include "demo_store.hpp"

namespace rampart {
namespace {

namespace json = boost::json;
using test_support::DemoStore;
using test_support::Ran;
using testing::HasSubstr;

const char* const kChanges = R"(product = "simulated"
immutable = ["months_on_file"]
together = 2
[[change]]
feature = "loan_amount"
direction = "fall"
from = 1000
to = 40000
step = 500
scale = 5000
[[change]]
feature = "debt_to_income"
direction = "fall"
from = 0
to = 1
step = 0.01
scale = 0.1
[[change]]
feature = "score"
direction = "rise"
from = 300
to = 850
step = 10
scale = 100
)";

class Counterfactual : public testing::Test, public DemoStore {
  protected:
    static void SetUpTestSuite() {
        make("counterfactual_test");
        write("changes.toml", kChanges);
    }
    static void TearDownTestSuite() { remove(); }

    static void write(const std::string& name, const std::string& text) {
        ASSERT_TRUE(base::write_file_atomically(out() / name, text));
    }
    static Ran counterfactual(const std::string& arguments, const std::string& file = "") {
        return rampart("counterfactual --config a/rampartd.toml --changes " +
                       (file.empty() ? "changes.toml" : file) + " " + arguments);
    }
    /// Returns the last decisions of the log of partition 0, as they are stored.
    static json::array last_decisions(int64_t most) {
        const std::string log = "inspect log --store a/store --topic decisions --json ";
        const auto end = json::parse(rampart(log + "--limit 1 2>/dev/null || false").output)
                             .at("end_offset")
                             .to_number<int64_t>();
        return json::parse(rampart(log + fmt::format("--from {} --limit {} 2>/dev/null || false",
                                                     std::max<int64_t>(0, end - most), most))
                               .output)
            .at("records")
            .as_array();
    }
    static std::string id_of(const json::value& record) {
        return std::string(record.at("key").as_string());
    }
};

/// Checks an answer against the file of changes.
void check(const json::object& answer, double draw) {
    EXPECT_GT(answer.at("p_approve").to_number<double>(), draw);
    const auto& changes = answer.at("changes").as_array();
    EXPECT_GE(changes.size(), 1u);
    EXPECT_LE(changes.size(), 2u);
    double distance = 0;
    for (const auto& change : changes) {
        const auto feature = std::string(change.at("feature").as_string());
        const auto was = change.at("was").to_number<double>();
        const auto would_be = change.at("would_be").to_number<double>();
        if (feature == "score") {
            EXPECT_GT(would_be, was);
            EXPECT_LE(would_be, 850);
            EXPECT_EQ(std::fmod(would_be, 10), 0);
            distance += (would_be - was) / 100;
        } else {
            EXPECT_LT(would_be, was);
            ASSERT_TRUE(feature == "loan_amount" || feature == "debt_to_income") << feature;
            const bool amount = feature == "loan_amount";
            EXPECT_GE(would_be, amount ? 1000 : 0);
            EXPECT_LE(would_be, amount ? 40000 : 1);
            EXPECT_NEAR(std::remainder(would_be, amount ? 500 : 0.01), 0, 1e-12);
            distance += (was - would_be) / (amount ? 5000 : 0.1);
        }
    }
    EXPECT_NEAR(answer.at("distance").to_number<double>(), distance, 1e-6);
}

TEST_F(Counterfactual, AnswersAreDeclaredNearestFirstAndAboveTheDraw) {
    size_t found = 0;
    std::string declined, approved;
    for (const auto& record : last_decisions(40)) {
        const auto ran = counterfactual("--json --decision " + id_of(record) + " 2>/dev/null");
        if (ran.exit_code == 2) {
            approved = id_of(record);
            EXPECT_THAT(counterfactual("--json --decision " + approved).output,
                        HasSubstr("not_a_decline"));
            continue;
        }
        const auto out = json::parse(ran.output).as_object();
        declined = id_of(record);
        const auto& answers = out.at("answers").as_array();
        const double draw = out.at("draw").to_number<double>();
        EXPECT_GE(draw, out.at("p_approve").to_number<double>());
        const auto result = std::string(out.at("result").as_string());
        EXPECT_EQ(result == "found", !answers.empty());
        EXPECT_EQ(ran.exit_code, result == "found" ? 0 : result == "none_exists" ? 3 : 1);
        double before = 0;
        for (const auto& answer : answers) {
            check(answer.as_object(), draw);
            const double distance = answer.at("distance").to_number<double>();
            EXPECT_GE(distance, before);
            before = distance;
        }
        found += !answers.empty();
        const double highest = out.at("highest_p").to_number<double>();
        EXPECT_EQ(highest > draw, !answers.empty());
    }
    EXPECT_GT(found, 0u);
    ASSERT_NE(declined, "");
    ASSERT_NE(approved, "");
    const auto text = counterfactual("--decision " + declined).output;
    EXPECT_THAT(text, HasSubstr("is not below P(approve)"));
    EXPECT_THAT(text, HasSubstr("changes as declared: SHA-256"));
    // bounded work is said to be bounded
    const auto few = json::parse(
        counterfactual("--json --tries 1 --most 10 --decision " + declined + " 2>/dev/null")
            .output);
    EXPECT_EQ(few.at("tried"), 1);
    EXPECT_FALSE(few.at("every_combination_tried").as_bool());
    EXPECT_THAT(counterfactual("--decision " + approved).output,
                HasSubstr("is of the action approve"));
    // no score is below the least one
    write("nothing.toml",
          "product = \"simulated\"\n[[change]]\nfeature = \"score\"\ndirection = \"rise\"\n"
          "from = 300\nto = 300\nstep = 1\nscale = 1\n");
    const auto none = counterfactual("--decision " + declined, "nothing.toml");
    EXPECT_EQ(none.exit_code, 3);
    EXPECT_THAT(none.output, HasSubstr("none exists"));
    EXPECT_THAT(none.output, HasSubstr("(0 tried"));
}

TEST_F(Counterfactual, WhatMayNotChangeIsRefusedByName) {
    const std::string amount = "feature = \"loan_amount\"", text(kChanges);
    const auto renamed = [&](const std::string& name) {
        auto out = text;
        return out.replace(out.find(amount), amount.size(), "feature = \"" + name + "\"");
    };
    std::string decline;
    for (const auto& record : last_decisions(40))
        if (counterfactual("--decision " + id_of(record)).exit_code != 2) decline = id_of(record);
    ASSERT_NE(decline, "");
    const auto refused = [&](const std::string& changed) {
        write("bad.toml", changed);
        const auto ran = counterfactual("--decision " + decline, "bad.toml");
        EXPECT_EQ(ran.exit_code, 2);
        return ran.output;
    };
    EXPECT_THAT(refused(renamed("race")), HasSubstr("'race': the feature is a protected"));
    EXPECT_THAT(refused(renamed("months_on_file")), HasSubstr("is declared immutable"));
    EXPECT_THAT(refused(renamed("lone_amount")), HasSubstr("lone_amount"));
    EXPECT_THAT(refused(text + "colour = 1\n"), HasSubstr("colour"));
    EXPECT_EQ(counterfactual("--decision none").exit_code, 2);
    EXPECT_EQ(counterfactual("--decision " + decline, "no_such.toml").exit_code, 2);
}

TEST_F(Counterfactual, APictureOfADecisionIsOneFileForItsOwnerAlone) {
    const auto id = id_of(last_decisions(1).at(0));
    write("p.svg", "one that all could read");
    std::filesystem::permissions(out() / "p.svg", std::filesystem::perms(0644));
    const auto ran = rampart("explain --config a/rampartd.toml --svg p.svg --decision " + id);
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr("wrote p.svg"));
    const auto svg = read(out() / "p.svg");
    EXPECT_THAT(svg, HasSubstr("decision " + id));
    EXPECT_THAT(svg, HasSubstr("declared rule"));
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
    const auto mode = std::filesystem::status(out() / "p.svg").permissions();
    EXPECT_EQ(mode & std::filesystem::perms(0077), std::filesystem::perms::none);
    const auto of_no_decision = rampart("explain --model m.rmp --data d.csv --svg p.svg");
    EXPECT_EQ(of_no_decision.exit_code, 2);
    EXPECT_THAT(of_no_decision.output, HasSubstr("--svg requires --decision"));
}

}  // namespace
}  // namespace rampart
