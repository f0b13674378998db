// Every decision of a demo is decided again to the bit; what is missing or changed for it is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "demo_store.hpp"

namespace rampart {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using test_support::DemoStore;
using test_support::Ran;
using testing::HasSubstr;

class Replay : public testing::Test, public DemoStore {
  protected:
    static void SetUpTestSuite() { make("replay_test"); }
    static void TearDownTestSuite() { remove(); }

    static Ran replay(const std::string& arguments) {
        return rampart("replay --config a/rampartd.toml " + arguments + " 2>/dev/null");
    }
    static json::object report(const std::string& arguments, int exit_code = 0) {
        const auto ran = replay(arguments + " --json");
        EXPECT_EQ(ran.exit_code, exit_code) << ran.output;
        return json::parse(ran.output).as_object();
    }
    static int64_t number(const json::object& from, const char* name) {
        return from.at(name).to_number<int64_t>();
    }
};

TEST_F(Replay, EveryDecisionOfADemoIsTheSameToTheBit) {
    const auto all = report("");
    EXPECT_EQ(number(all, "replayed"), 6000);
    EXPECT_EQ(number(all, "different"), 0);
    EXPECT_TRUE(all.at("failed").as_object().empty());
    EXPECT_THAT(replay("").output, HasSubstr("6000 decisions decided again: 6000 to the bit"));
    EXPECT_EQ(number(report("--sample 50 --seed 3"), "replayed"), 50);
    const auto before = number(report("--to 2006-01-01T00:00:00Z"), "replayed");
    const auto after = number(report("--from 2006-01-01T00:00:00Z"), "replayed");
    EXPECT_EQ(before + after, 6000);
    EXPECT_GT(before, 0);
    EXPECT_GT(after, 0);
    EXPECT_EQ(replay("--decision none").exit_code, 2);
}

TEST_F(Replay, AKeyThatIsRetiredIsFoundAndOneThatIsMissingIsNamed) {
    ASSERT_EQ(
        rampart("keys rotate draw --config a/rampartd.toml --reason test --actor anna").exit_code,
        0);
    EXPECT_EQ(number(report(""), "replayed"), 6000);
    const fs::path retired = out() / "a" / "store" / "keys" / "retired";
    fs::rename(retired, retired.string() + ".away");
    const auto missing = report("--sample 20", 1);
    EXPECT_EQ(number(missing, "replayed"), 0);
    EXPECT_EQ(number(missing.at("failed").as_object(), "other_key"), 20);
    EXPECT_THAT(replay("--sample 20").output, HasSubstr("keys import"));
    fs::rename(retired.string() + ".away", retired);
}

TEST_F(Replay, ASampleOfPersonsHasAllOfTheirDecisionsAndIsTheSameForTheSameSeed) {
    const auto few = report("--sample 40 --sample-of persons --seed 3");
    EXPECT_EQ(number(few, "replayed"), 40) << "each has one in a demo";
    EXPECT_EQ(json::serialize(few), json::serialize(report("--sample 40 --sample-of persons "
                                                           "--seed 3")));
    EXPECT_EQ(number(report("--sample 6000 --sample-of persons"), "replayed"), 6000);
    EXPECT_EQ(replay("--sample-of persons").exit_code, 2) << "of how many";
    EXPECT_EQ(replay("--sample 5 --sample-of loans").exit_code, 2);
}

TEST_F(Replay, AWindowThatEndsBeforeItBeginsIsRefusedAndAnEmptyOneIsSaid) {
    const auto refused =
        rampart("replay --config a/rampartd.toml --from 2006-01-01 --to 2005-01-01 2>&1");
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.output, HasSubstr("--to 2005-01-01 is not after --from 2006-01-01"));
    const auto none = rampart("replay --config a/rampartd.toml --from 2090-01-01 2>&1");
    EXPECT_EQ(none.exit_code, 0);
    EXPECT_THAT(none.output, HasSubstr("there was none to decide again"));
}

TEST_F(Replay, DecisionsAreCountedByPolicyAndAByteOfOneModelConcernsItsOwn) {
    const auto before = report("").at("policies").as_object();
    ASSERT_GT(before.size(), 1u) << "the demo promotes";
    int64_t all = 0;
    for (const auto& [policy, counts] : before) all += number(counts.as_object(), "replayed");
    EXPECT_EQ(all, 6000);
    const auto listed = rampart("models --store a/store --json 2>/dev/null");
    const auto promotions = json::parse(listed.output).at("promotions").as_array();
    const auto champion = std::string(promotions.back().at("policy").as_string());
    for (const auto& [name, counts] : before) {
        const std::string policy(name);
        if (policy == champion) continue;
        const auto file = out() / "a" / "store" / "registry" / "models" / (policy + ".rmp");
        const auto whole = read(file);
        auto bytes = whole;
        bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
        ASSERT_TRUE(base::write_file_atomically(file, bytes));
        const auto found = report("", 1);
        ASSERT_TRUE(base::write_file_atomically(file, whole));
        const auto its = number(counts.as_object(), "replayed");
        EXPECT_EQ(number(found.at("policies").as_object().at(name).as_object(), "failed"), its);
        EXPECT_EQ(number(found, "replayed"), 6000 - its);
        EXPECT_EQ(number(found.at("failed").as_object(), "model_digest"), its);
        break;
    }
}

TEST_F(Replay, AByteOfAModelThatIsChangedIsFound) {
    int changed = 0;
    for (const auto& model :
         fs::directory_iterator(out() / "a" / "store" / "registry" / "models")) {
        auto bytes = read(model.path());
        bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
        ASSERT_TRUE(base::write_file_atomically(model.path(), bytes));
        ++changed;
    }
    ASSERT_GT(changed, 0);
    // the champion is among them, so that the store does not even open
    const auto ran = rampart("replay --config a/rampartd.toml");
    EXPECT_NE(ran.exit_code, 0);
    EXPECT_THAT(ran.output, HasSubstr("the content is not the one that was registered"));
}

}  // namespace
}  // namespace rampart
