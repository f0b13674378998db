#pragma once

#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <sstream>

#include "demo_store.hpp"
#include "rampart/decision/chance_codes.hpp"
#include "rampart/decision/decider.hpp"
#include "rampart/wire/event_codec.hpp"
#include "services/rampartd/node.hpp"
#include "support/places.hpp"
#include "tools/demo/service_process.hpp"

/// `rampart candidate` on the store of a demo.
namespace rampart::test_support {

namespace fs = std::filesystem;
namespace json = boost::json;

/// The store of a stream on which nothing was trained, and models that were trained outside.
class CandidateStore : public testing::Test, public DemoStore {
  protected:
    /// Makes store and models; further options are the demo's.
    static void make_store(const std::string& name, const std::string& options = "") {
        const auto config = fs::path(testing::TempDir()) / fmt::format("config.{}", ::getpid());
        fs::copy(source_dir() + "/ops/config", config, fs::copy_options::recursive);
        const auto file = config / "demo" / "simulated.toml";
        auto text = read(file);
        const std::string schedule = "every_months = 2";
        text.replace(text.find(schedule), schedule.size(),
                     "every_months = 0\nevery_matured = 1000000000");
        ASSERT_TRUE(base::write_file_atomically(file, text));
        make(name, options, config.string());
        fs::remove_all(config);
        if (testing::Test::HasFatalFailure()) return;
        train_models();
    }

    static void done(const std::string& arguments) {
        const auto ran = rampart(arguments);
        ASSERT_EQ(ran.exit_code, 0) << arguments << "\n" << ran.output;
    }
    /// Trains on the exported development log: m.rmp, and the same by way of LightGBM, lgb.rmp.
    static void train_models() {
        done("export-log --config a/rampartd.toml --side development --out log.csv");
        std::istringstream log(read(out() / "log.csv"));
        std::string labelled, line;
        std::getline(log, line);
        const auto column = [&, head = line](const std::string& name) {
            return std::count(head.begin(),
                              head.begin() + static_cast<std::ptrdiff_t>(head.find(name)), ',');
        };
        const auto label = column(",label,") + 1;
        labelled = line + "\n";
        while (std::getline(log, line)) {
            std::istringstream cells(line);
            std::string cell;
            for (long i = 0; i <= label; ++i) std::getline(cells, cell, ',');
            if (!cell.empty()) labelled += line + "\n";
        }
        ASSERT_TRUE(base::write_file_atomically(out() / "loans.csv", labelled));
        const auto schema = run_program(fmt::format(
            "(cd '{}' && {} schema infer loans.csv --label label --favourable 1 --protected race "
            "--ignore record,person,time,side,logger,p_approve,action,overridden,impact,weight "
            "2>/dev/null)",
            out().string(), kRampart));
        ASSERT_EQ(schema.exit_code, 0) << schema.output;
        ASSERT_TRUE(base::write_file_atomically(out() / "s.toml", schema.output));
        done("train --data loans.csv --schema s.toml --trees 100 --out m.rmp");
        done("export --to lightgbm --model m.rmp --out m.txt");
        done(
            "import --from lightgbm --model m.txt --schema s.toml --positive favourable --out "
            "lgb.rmp");
    }

    /// What the command answers as JSON.
    static json::object told(const std::string& options, int exit_code = 0) {
        const auto ran = run_program(
            fmt::format("(cd '{}' && {} candidate --config a/rampartd.toml --json {} 2>/dev/null)",
                        out().string(), kRampart, options));
        EXPECT_EQ(ran.exit_code, exit_code) << ran.output;
        return json::parse(ran.output).as_object();
    }
    static std::unique_ptr<rampartd::Node> open() {
        return rampartd::Node::open(rampartd::load_settings(out() / "a" / "rampartd.toml").value())
            .value();
    }
    static std::string champion() {
        return registry::ModelRegistry::open(out() / "a" / "store" / "registry",
                                             registry::ModelRegistry::Mode::kReadOnly)
            .value()
            ->champion()
            ->policy.value();
    }
    /// Everything that the command may leave in the registry.
    static std::array<uint64_t, 3> left_behind() {
        const auto registry =
            registry::ModelRegistry::open(out() / "a" / "store" / "registry",
                                          registry::ModelRegistry::Mode::kReadOnly)
                .value();
        return {registry->models()->size(), registry->ledger_entries()->size(),
                registry->audit_head().count};
    }
};

/// Decides new applications, and gets each decision again from what the log has of it.
inline void expect_replayed(rampartd::Node& node, const std::string& champion) {
    const auto log =
        node.log().read("decisions", streaming::PartitionId(0), streaming::Offset(0), 200).value();
    std::vector<domain::Application> batch;
    for (const auto& stored : log) {
        const auto logged = wire::decode_decision(stored.record.value);
        if (!logged) continue;  // a fence
        auto one = logged->application;
        one.id = domain::ApplicationId("new-" + one.id.value());
        one.person = domain::PersonId("new-" + one.person.value());
        one.event_time = node.now();
        batch.push_back(std::move(one));
    }
    ASSERT_GT(batch.size(), 100u);
    const auto decided = node.decisions().decide(batch).value();
    ASSERT_EQ(decided.size(), batch.size());
    auto model = std::make_shared<const model::LoadedPolicy>(
        node.registry().load_model(domain::PolicyId(champion)).value());
    const auto policy = decision::PolicyInForce::create(std::move(model), true).value();
    const decision::DrawKey key{node.keys().ids.draw, node.keys().draw};
    for (const auto& one : decided) {
        ASSERT_EQ(one.policy.value(), champion);
        const auto stored = wire::decode_decision(wire::encode(one)).value();
        const auto status = decision::replay(stored, *policy, key, std::nullopt);
        ASSERT_TRUE(status) << status.error().message;
        EXPECT_FALSE(decision::names_features(one.reasons));
    }
}

}  // namespace rampart::test_support
