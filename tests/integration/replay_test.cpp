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
