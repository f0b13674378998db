// Stores that earlier releases have made (tests/golden/stores): this one says the same of them,
// decides again what they decided, verifies what they signed, and goes on with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "rampart/loan_stream/stream.hpp"
#include "rampart/wire/application_json.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/service_process.hpp"

namespace rampart::demo {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using ::testing::HasSubstr;

const std::string kProgram = test_support::bin_dir() + "/rampart";
const fs::path kStores = test_support::source_dir() + "/tests/golden/stores";
constexpr auto kEnding = ".tar.gz";

std::vector<std::string> names() {
    std::vector<std::string> found;
    for (const auto& one : fs::directory_iterator(kStores)) {
        const auto name = one.path().filename().string();
        if (name.ends_with(kEnding))
            found.push_back(name.substr(0, name.size() - std::string(kEnding).size()));
    }
    std::sort(found.begin(), found.end());
    return found;
}

class EarlierRelease : public testing::TestWithParam<std::string> {
  protected:
    EarlierRelease() {
        fs::create_directories(folder_);
        const auto packed = (kStores / (GetParam() + kEnding)).string();
        const auto ran =
            test_support::run_program(fmt::format("tar -xzf {} -C {}", packed, folder_.string()));
        EXPECT_EQ(ran.exit_code, 0) << ran.output;
        std::ofstream(config(), std::ios::app) << "\n[audit]\nenabled = true\n";
        told_ = json::parse(base::read_file(folder_ / "report.json", 1 << 20).value()).as_object();
    }
    ~EarlierRelease() override { fs::remove_all(folder_); }

    /// Runs a command whose exit code has to be 0.
    std::string rampart(const std::string& arguments) const {
        const auto ran =
            test_support::run_program(fmt::format("{} {} 2>/dev/null", kProgram, arguments));
        EXPECT_EQ(ran.exit_code, 0) << arguments << "\n" << ran.output;
        return ran.output;
    }
    std::string config() const { return (folder_ / "rampartd.toml").string(); }
    std::string champion() const {
        const auto& policies = told_.at("policies").as_array();
        return std::string(policies.back().at("id").as_string());
    }
    json::object inspected() const {
        return json::parse(rampart("inspect store --json --config " + config())).as_object();
    }
    ServiceProcess start() const {
        auto process = ServiceProcess::start(kProgram, config(), folder_ / "store" / "endpoint",
                                             folder_ / "node.log");
        EXPECT_TRUE(process) << process.error().message;
        return std::move(*process);
    }
    http::Client client() const {
        auto endpoint = base::read_file(folder_ / "store" / "endpoint", 256).value();
        endpoint.pop_back();
        auto token = base::read_file(folder_ / "store" / "keys" / "token", 256).value();
        while (token.ends_with('\n')) token.pop_back();
        return http::Client::create(endpoint, {.token = token}).value();
    }

    const fs::path folder_ =
        fs::path(testing::TempDir()) / fmt::format("earlier.{}.{}", ::getpid(), GetParam());
    json::object told_;  // what the release said at its end
};

TEST_P(EarlierRelease, SaysTheSameAndEachDecisionIsTheSameToTheBit) {
    const auto check = rampart("store check --config " + config());
    EXPECT_THAT(check, HasSubstr("ok"));
    const auto found = inspected();
    EXPECT_EQ(found.at("champion").as_string(), champion());
    EXPECT_EQ(found.at("state_hash").as_string(), told_.at("state_hash").as_string());
    const auto& joined = told_.at("joiner").as_object();
    for (const char* count : {"decisions", "outcomes", "matured", "corrections"})
        EXPECT_EQ(found.at(count).to_number<int64_t>(), joined.at(count).to_number<int64_t>())
            << count;
    const auto replay = json::parse(rampart("replay --json --config " + config()));
    EXPECT_EQ(replay.at("replayed").to_number<int64_t>(),
              joined.at("decisions").to_number<int64_t>());
    EXPECT_EQ(replay.at("different").to_number<int64_t>(), 0);
    EXPECT_TRUE(replay.at("failed").as_object().empty());
}

TEST_P(EarlierRelease, WhatWasSignedVerifies) {
    size_t certified = 0, all = 0;
    for (const auto& one : fs::directory_iterator(folder_ / "certificates")) {
        if (one.path().extension() != ".cert" ||
            !fs::exists(fs::path(one.path()).replace_extension(".evidence.jsonl")))
            continue;
        ++all;
        certified +=
            rampart("verify " + one.path().string()).find("CERTIFIED") != std::string::npos;
    }
    EXPECT_GE(all, 4u);
    EXPECT_GE(certified, 1u);
    const auto store = (folder_ / "store").string();
    EXPECT_THAT(rampart("audit verify --store " + store), HasSubstr("verified"));
    EXPECT_THAT(rampart("models --store " + store), HasSubstr("champion"));
    const auto& months = told_.at("months").as_array();
    ASSERT_FALSE(months.empty());
    EXPECT_THAT(rampart("registry at 2099-01-01 --store " + store),
                HasSubstr(champion().substr(0, 12)));
}

TEST_P(EarlierRelease, ANodeGoesOnWithIt) {
    const auto before = inspected().at("decisions").to_number<int64_t>();
    const auto stream =
        loan_stream::load({.name = "simulated", .data_dir = {}, .rows = 2000, .seed = 99}).value();
    auto process = start();
    EXPECT_THAT(client().get("/v1/policy")->body, HasSubstr(champion()));
    auto application = stream.applicants.back().application;
    application.id = domain::ApplicationId("of-today");
    application.person = domain::PersonId("of-today");
    const auto clock = json::parse(client().get("/v1/status")->body);
    application.event_time =
        base::parse_iso8601(std::string(clock.at("clock").at("now").as_string())).value();
    const auto decided = client().post("/v1/decisions", wire::to_json(application)).value();
    EXPECT_EQ(decided.status, 200) << decided.body;
    process.kill();
    process = start();
    EXPECT_EQ(client().post("/v1/decisions", wire::to_json(application))->body, decided.body)
        << "the same answer to the same application";
    const auto first = json::parse(client().get("/v1/decisions?limit=1")->body);
    const auto person =
        std::string(first.at("decisions").at(0).at("application").at("person_id").as_string());
    EXPECT_THAT(
        rampart(fmt::format("erase --person {} --reason test --config {}", person, config())),
        HasSubstr("erased"));
    ASSERT_TRUE(process.stop());
    const auto after = inspected().at("decisions").to_number<int64_t>();
    EXPECT_LE(after, before) << "one was made, and those of a person are erased";
    const auto replay = json::parse(rampart("replay --json --config " + config()));
    EXPECT_EQ(replay.at("different").to_number<int64_t>(), 0);
    EXPECT_EQ(replay.at("replayed").to_number<int64_t>(), after);
}

INSTANTIATE_TEST_SUITE_P(Stores, EarlierRelease, testing::ValuesIn(names()), [](const auto& store) {
    auto name = store.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return "Of" + name;
});

TEST(EarlierReleases, HaveLeftStores) { EXPECT_FALSE(names().empty()) << kStores; }

}  // namespace
}  // namespace rampart::demo
