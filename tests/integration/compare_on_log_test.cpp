// `rampart compare` of two registered policies on what a store has logged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <sstream>

#include "demo_store.hpp"
#include "rampart/base/clock.hpp"

namespace rampart {
namespace {

namespace json = boost::json;
using test_support::DemoStore;
using test_support::Ran;
using testing::HasSubstr;
using testing::Not;

class CompareOnLog : public testing::Test, public DemoStore {
  protected:
    static void SetUpTestSuite() {
        make("compare_on_log_test");
        if (HasFatalFailure()) return;
        const auto models = rampart("models --store a/store --json 2>/dev/null").output;
        const auto promotions = json::parse(models).at("promotions").as_array();
        ASSERT_GT(promotions.size(), 1u) << "the demo promotes";
        first_ = std::string(promotions.front().at("policy").as_string());
        second_ = std::string(promotions.back().at("policy").as_string());
        promoted_ = std::string(promotions.at(1).at("at").as_string());
    }
    static void TearDownTestSuite() { remove(); }

    static Ran compare(const std::string& more, const std::string& second = second_) {
        return rampart(
            fmt::format("compare --config a/rampartd.toml --policy {} --policy {} {} 2>&1", first_,
                        second, more));
    }
    static json::object document(const std::string& more, const std::string& second = second_) {
        const auto ran = rampart(fmt::format(
            "compare --config a/rampartd.toml --policy {} --policy {} {} --json 2>/dev/null",
            first_, second, more));
        EXPECT_EQ(ran.exit_code, 0) << ran.output;
        return json::parse(ran.output).as_object();
    }
    static double end_of(const json::value& mean, size_t end) {
        return mean.as_array().at(end).to_number<double>();
    }

    static inline std::string first_, second_, promoted_;  // when first_ was replaced
};

/// Checks that the lines of each table are of one length.
void expect_lined_up(const std::string& text) {
    std::istringstream in(text);
    size_t length = 0, tables = 0;
    for (std::string line; std::getline(in, line);) {
        const bool table = line.find("first") != line.npos && line.find("second") != line.npos &&
                           (line.starts_with("all ") || line.starts_with("group ") ||
                            line.starts_with("score of second "));
        const auto places = static_cast<size_t>(
            std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }));
        if (table) {
            length = places;
            ++tables;
        } else if (places == 0) {
            length = 0;
        } else if (length > 0) {
            EXPECT_EQ(places, length) << line;
        }
    }
    EXPECT_EQ(tables, 6u) << text;
}

TEST_F(CompareOnLog, SaysWhoIsDecidedOtherwiseAndWhatThatIsWorth) {
    const auto text = compare("");
    ASSERT_EQ(text.exit_code, 0) << text.output;
    for (const char* words : {"development side", "race=", "score of second", "PSI of P(approve)",
                              "doubly robust", "no outcome of a person of the vault is read"})
        EXPECT_THAT(text.output, HasSubstr(words));
    expect_lined_up(text.output);
    const auto found = document("");
    const auto& all = found.at("all").as_object();
    const auto& approved = all.at("approved").as_object();
    double sum = 0;
    for (const auto& [name, share] : approved) sum += share.to_number<double>();
    EXPECT_NEAR(sum, 1, 1e-12);
    EXPECT_GT(approved.at("second_only").to_number<double>(), 0.01) << "the demo's policies differ";
    EXPECT_GT(all.at("psi").to_number<double>(), 0.01);
    const auto& difference = all.at("difference").as_object();
    EXPECT_EQ(difference.at("said").as_string(), "bounded") << "some outcomes never come";
    const double mean = end_of(difference.at("mean"), 0);
    EXPECT_LT(end_of(difference.at("interval"), 0), mean);
    EXPECT_GT(end_of(difference.at("interval"), 1), mean);
    EXPECT_GT(mean, 0) << "what was certified is better than the bootstrap policy";
    const double first = end_of(all.at("first").at("mean"), 0);
    const double second = end_of(all.at("second").at("mean"), 0);
    EXPECT_NEAR(second - first, mean, 5);
    EXPECT_GT(found.at("groups").as_array().size(), 1u);
    EXPECT_EQ(found.at("bands_by").as_string(), "second") << "the bootstrap policy has no score";
    EXPECT_EQ(found.at("bands").as_array().size(), 10u);
    EXPECT_EQ(found.at("side").as_string(), "development");
    // both sides have 6,000 decisions
    const auto decisions = all.at("decisions").to_number<int64_t>();
    EXPECT_GT(decisions, 1000);
    EXPECT_LT(decisions, 6000 * 0.65);
}

TEST_F(CompareOnLog, AWindowIsOfApplicationsAndAShortOneHasTooFew) {
    const auto count = [](const json::object& found) {
        return found.at("all").at("decisions").to_number<int64_t>();
    };
    const auto all = document("");
    const auto before = document("--to " + promoted_), after = document("--from " + promoted_);
    EXPECT_EQ(count(before) + count(after), count(all)) << "one decision a person";
    const auto two_days = base::parse_iso8601(promoted_).value() + base::Duration::days(2);
    const auto text =
        compare(fmt::format("--from {} --to {}", promoted_, base::to_iso8601(two_days)));
    ASSERT_EQ(text.exit_code, 0) << text.output;
    EXPECT_THAT(text.output, HasSubstr("too few"));
    const auto later = all.at("decided_before_registration").to_number<int64_t>();
    EXPECT_GT(later, 0);
    EXPECT_THAT(compare("").output, HasSubstr("learnt from their outcomes"));
}

TEST_F(CompareOnLog, APolicyBesideItselfDiffersByNothing) {
    const auto found = document("", first_);
    const auto& all = found.at("all").as_object();
    EXPECT_EQ(all.at("psi").to_number<double>(), 0);
    EXPECT_EQ(end_of(all.at("difference").at("mean"), 0), 0);
    EXPECT_EQ(end_of(all.at("difference").at("interval"), 1), 0);
}

/// Puts a file back as it was.
class Kept {
  public:
    explicit Kept(std::filesystem::path path)
        : path_(std::move(path)), text_(DemoStore::read(path_)) {}
    ~Kept() { write(text_); }
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;
    void write(const std::string& text) const {
        ASSERT_TRUE(base::write_file_atomically(path_, text));
    }
    /// Writes the file with one part of it changed.
    void change(const std::string& part, const std::string& by) const {
        auto text = text_;
        const auto at = text.find(part);
        ASSERT_NE(at, std::string::npos) << part;
        write(text.replace(at, part.size(), by));
    }

  private:
    const std::filesystem::path path_;
    const std::string text_;
};

TEST_F(CompareOnLog, ARenamedFeatureChangesNothingAndTheFileIsNotDeclared) {
    const auto declared = [] {
        return rampart("audit list --store a/store --action declare_schema 2>&1").output;
    };
    const Kept schema(out() / "a" / "schema.toml"), words(out() / "a" / "reasons.toml");
    const std::string score = "name = \"score\"\nkind = \"numeric\"\n";
    const auto renamed = [&](const std::string& name) {
        schema.change(score, fmt::format("name = \"{}\"\nkind = \"numeric\"\nwas = [\"score\"]\n"
                                         "accepted_until = \"2060-01-01\"\n",
                                         name));
        words.change("[\"score\"]", fmt::format("[\"score\", \"{}\"]", name));
    };
    const auto before = document("");
    const auto record = declared();
    ASSERT_THAT(record, HasSubstr("declare_schema"));
    renamed("bureau_score");
    EXPECT_EQ(json::serialize(document("")), json::serialize(before))
        << "both policies were learnt by the earlier name";
    const auto replayed = rampart("replay --config a/rampartd.toml --sample 200 2>&1");
    EXPECT_EQ(replayed.exit_code, 0) << replayed.output;
    EXPECT_EQ(declared(), record) << "the service alone puts the file on record";
    // so that it may still be changed
    renamed("points");
    EXPECT_EQ(json::serialize(document("")), json::serialize(before));
    // who takes a model to the gate has to be bound to the file
    for (const std::string command : {"certify", "candidate"}) {
        const auto refused = rampart(fmt::format(
            "{} --config a/rampartd.toml --model a/store/registry/models/{}.rmp {} 2>&1", command,
            second_, command == "candidate" ? "--out x.rmp" : ""));
        EXPECT_EQ(refused.exit_code, 2) << refused.output;
        EXPECT_THAT(refused.output, HasSubstr("feature 'score' is called 'points'"));
        EXPECT_THAT(refused.output, HasSubstr("start the service with it first"));
    }
    words.change("[\"score\"]", "[\"points\"]");
    schema.change(score, "name = \"points\"\nkind = \"numeric\"\n");
    const auto refused = compare("");
    EXPECT_EQ(refused.exit_code, 2) << refused.output;
    EXPECT_THAT(refused.output, HasSubstr("feature 'score' is not there, and 'points' stands"));
    EXPECT_EQ(declared(), record);
}

TEST_F(CompareOnLog, WhatCannotBeComparedIsNamed) {
    const auto expect_refused = [](const Ran& ran, const char* words) {
        EXPECT_EQ(ran.exit_code, 2) << ran.output;
        EXPECT_THAT(ran.output, HasSubstr(words));
    };
    expect_refused(compare("", std::string(64, 'a')), std::string(64, 'a').c_str());
    expect_refused(compare("--from 2060-01-01"), "2060-01-01");
    expect_refused(compare("--from 2022-06-01 --to 2022-01-01"), "is not after --from");
    expect_refused(compare("--from yesterday"), "--from");
    expect_refused(compare("--policy " + first_), "--policy: 3 given");
    expect_refused(compare("--confidence 1"), "--confidence");
    expect_refused(compare("--data x.csv"), "--config and --policy of a store");
    expect_refused(rampart("compare --policy a --policy b 2>&1"), "--config: is missing");
    expect_refused(rampart("compare --first a --second b 2>&1"), "--data: is missing");
    expect_refused(rampart("compare --from 2005-01-01 2>&1"), "--config and two --policy");
}

}  // namespace
}  // namespace rampart
