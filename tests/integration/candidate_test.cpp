// From the workbench to the service: a model that was trained elsewhere on the exported log, as a
// candidate on the champion, judged by the gate, promoted and served.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <sstream>

#include "demo_store.hpp"
#include "rampart/decision/decider.hpp"
#include "rampart/wire/event_codec.hpp"
#include "services/rampartd/node.hpp"
#include "shown_model.hpp"
#include "tools/demo/service_process.hpp"

namespace rampart {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using test_support::DemoStore;
using test_support::Ran;
using test_support::run_program;
using testing::HasSubstr;

/// The store of a stream on which nothing was trained, and models that were trained outside.
class CandidateCommand : public testing::Test, public DemoStore {
  protected:
    static void SetUpTestSuite() {
        const auto config = fs::path(testing::TempDir()) / fmt::format("config.{}", ::getpid());
        fs::copy(RAMPART_SOURCE_DIR "/ops/config", config, fs::copy_options::recursive);
        const auto file = config / "demo" / "simulated.toml";
        auto text = read(file);
        const std::string schedule = "every_months = 2";
        text.replace(text.find(schedule), schedule.size(),
                     "every_months = 0\nevery_matured = 1000000000");
        ASSERT_TRUE(base::write_file_atomically(file, text));
        make("candidate_test", "", config.string());
        fs::remove_all(config);
        if (HasFatalFailure()) return;
        train_models();
    }
    static void TearDownTestSuite() { remove(); }

    static void done(const std::string& arguments) {
        const auto ran = rampart(arguments);
        ASSERT_EQ(ran.exit_code, 0) << arguments << "\n" << ran.output;
    }
    /// From the exported development log: m.rmp, the same by way of LightGBM, one with a calibrated
    /// score, and one with thresholds by group.
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
        done(
            "postprocess --model m.rmp --data loans.csv --criterion statistical_parity --out "
            "groups.rmp");
        ASSERT_TRUE(base::write_file_atomically(
            out() / "calibrated.toml",
            "learner = \"gbdt\"\ntrees = 60\n[postprocess]\ncalibration = \"beta\"\n"));
        done("train --data loans.csv --schema s.toml --recipe calibrated.toml --out beta.rmp");
    }
    /// Makes a candidate, decides by it, and shows it by all that shows models.
    static model::LoadedPolicy expect_shown(const std::string& options) {
        done(fmt::format("candidate --config a/{} --out shown.rmp", options));
        const auto folder = out() / "shown";
        fs::create_directories(folder);
        const auto table = test_support::write_table(
            {.name = "simulated", .data_dir = {}, .rows = 6000, .seed = 1}, 300, folder);
        const auto model = std::make_shared<const model::LoadedPolicy>(
            model::load_model_file(out() / "shown.rmp").value());
        const auto policy = decision::PolicyInForce::create(model, true).value();
        test_support::expect_decided_and_replayed(table, *policy, {"key", "secret"});
        test_support::expect_shown(table, (out() / "shown.rmp").string());
        return *model;
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

TEST_F(CandidateCommand, SaysWhatAModelWouldChangeAndLeavesNoTrace) {
    const auto before = left_behind();
    const auto made = told("--model lgb.rmp --plan --out c.rmp");
    EXPECT_EQ(left_behind(), before);
    EXPECT_EQ(made.at("champion"), json::value(champion()));
    EXPECT_EQ(made.at("links"), 2);
    EXPECT_TRUE(made.at("run").is_null());
    EXPECT_GT(made.at("changed").to_number<double>(), 0.5);
    EXPECT_GT(made.at("chance").to_number<double>(), 0.5);
    for (const auto& group : made.at("groups").as_array()) {
        EXPECT_GT(group.at("persons").to_number<int>(), 50);
        EXPECT_TRUE(group.at("chance").is_number());
    }
    const auto& plan = made.at("plan").as_array();
    ASSERT_GE(plan.size(), 3u);
    EXPECT_EQ(plan[0].at("distance"), made.at("distance"));
    EXPECT_LT(plan.back().at("distance").to_number<double>(),
              plan.front().at("distance").to_number<double>() / 2);
    EXPECT_EQ(made.at("candidate"), json::value(base::sha256(read(out() / "c.rmp")).hex()));
    const auto text = rampart("candidate --config a/rampartd.toml --model lgb.rmp --plan");
    for (const char* part : {"chance of passing", "race=", "The way to the model's own decisions",
                             "--submit takes the candidate to the gate"})
        EXPECT_THAT(text.output, HasSubstr(part));
    // the same trees by either way give the same link
    const auto own = told("--model m.rmp");
    EXPECT_EQ(own.at("changed"), made.at("changed"));
    EXPECT_NEAR(own.at("distance").to_number<double>(), made.at("distance").to_number<double>(),
                1e-9);
    EXPECT_EQ(told("--model lgb.rmp --plan --out c.rmp"), made) << "deterministic";
}

TEST_F(CandidateCommand, OneThatDoesNotFitIsRefusedByNameValueAndRemedy) {
    const auto before = left_behind();
    const auto refusal = [](const std::string& options,
                            const std::string& config = "a/rampartd.toml") {
        const auto ran = rampart(fmt::format("candidate --config {} --submit {}", config, options));
        EXPECT_EQ(ran.exit_code, 2) << options << ran.output;
        return ran.output;
    };
    EXPECT_THAT(refusal("--model none.rmp"), HasSubstr("none.rmp"));
    auto bytes = read(out() / "m.rmp");
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    ASSERT_TRUE(base::write_file_atomically(out() / "damaged.rmp", bytes));
    EXPECT_THAT(refusal("--model damaged.rmp"), HasSubstr("checksum"));
    auto schema = read(out() / "s.toml");
    auto log = read(out() / "loans.csv");
    for (auto* text : {&schema, &log}) {
        const auto at = text->find("x.");
        ASSERT_NE(at, std::string::npos);
        text->replace(at, 2, "y.");
    }
    ASSERT_TRUE(base::write_file_atomically(out() / "other.toml", schema));
    ASSERT_TRUE(base::write_file_atomically(out() / "other.csv", log));
    done("train --data other.csv --schema other.toml --trees 20 --out other.rmp");
    auto text = refusal("--model other.rmp");
    for (const char* part : {"'y.", "which this product does not have", "its features are"})
        EXPECT_THAT(text, HasSubstr(part));
    text = refusal("--model groups.rmp");
    for (const char* part : {"race=", "group_blind", "rampart postprocess --blind"})
        EXPECT_THAT(text, HasSubstr(part));
    EXPECT_THAT(refusal("--model m.rmp --step 0.9"), HasSubstr("the step is 0.9; allowed is"));
    EXPECT_THAT(refusal("--model m.rmp --approve-rate 1.5"), HasSubstr("1.5"));
    EXPECT_THAT(refusal("--model m.rmp --out none/c.rmp"), HasSubstr("none"));
    done("candidate --config a/rampartd.toml --model m.rmp --out c.rmp");
    EXPECT_THAT(refusal("--model c.rmp"), HasSubstr("chain of 2 links"));
    EXPECT_THAT(refusal("--model m.rmp", "a/audit.toml"), HasSubstr("audit.enabled is true"));
    const auto epoch =
        rampart("candidate --config a/rampartd.toml --model m.rmp --new-epoch 'a new year'");
    EXPECT_EQ(epoch.exit_code, 2);
    EXPECT_THAT(epoch.output, HasSubstr("--submit"));
    EXPECT_EQ(left_behind(), before);
}

/// How the kinds of a scheduled training are shown: recipes_test.cpp.
TEST_F(CandidateCommand, AnImportedModelAndACalibratedOneAreReplayedAndShown) {
    const auto imported = expect_shown("rampartd.toml --model lgb.rmp");
    EXPECT_EQ(imported.policy.provenance().at("model.learner"), "lightgbm");
    EXPECT_TRUE(imported.policy.last_learned()->calibrations.empty());
    const auto calibrated = expect_shown("rampartd.toml --model beta.rmp");
    EXPECT_EQ(calibrated.policy.last_learned()->calibrations.size(), 1u);
}

/// Decides new applications, and gets each decision again from what the log has of it.
void expect_replayed(rampartd::Node& node, const std::string& champion) {
    const auto log =
        node.log().read("decisions", streaming::PartitionId(0), streaming::Offset(0), 200).value();
    std::vector<domain::Application> batch;
    for (const auto& stored : log) {
        auto one = wire::decode_decision(stored.record.value).value().application;
        one.id = domain::ApplicationId("new-" + one.id.value());
        one.person = domain::PersonId("new-" + one.person.value());
        one.event_time = node.now();
        batch.push_back(std::move(one));
    }
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
        EXPECT_TRUE(one.action != domain::Action::kDecline || !one.reasons.empty());
    }
}

TEST_F(CandidateCommand, IsJudgedByARunningNodeServedAndFollowedByTheNextStep) {
    const auto bootstrap = champion();
    const auto folder = out() / "a";
    auto process = demo::ServiceProcess::start(
        kRampart, folder / "rampartd.toml", folder / "store" / "endpoint", folder / "service.log");
    ASSERT_TRUE(process) << process.error().message;
    const auto asked = told("--model lgb.rmp --out c.rmp");
    EXPECT_EQ(asked.at("candidate"), json::value(base::sha256(read(out() / "c.rmp")).hex()));
    const auto other = rampart("candidate --config a/rampartd.toml --model groups.rmp");
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_THAT(other.output, HasSubstr("rampart postprocess --blind"));
    const auto made = told("--model lgb.rmp --submit --actor anna");
    EXPECT_EQ(made.at("candidate"), asked.at("candidate")) << "told and submitted are the same";
    const auto& run = made.at("run").as_object();
    ASSERT_EQ(run.at("verdict"), "CERTIFIED") << json::serialize(run);
    ASSERT_TRUE(process->stop());
    const auto first = std::string(made.at("candidate").as_string());
    EXPECT_EQ(champion(), first);
    EXPECT_NE(first, bootstrap);
    {
        const auto node = open();
        const auto audit = node->registry().audit_entries().value();
        EXPECT_TRUE(std::any_of(audit.begin(), audit.end(), [&](const auto& entry) {
            return entry.action == "propose_candidate" && entry.actor == "anna" &&
                   entry.details.at("candidate") == first &&
                   entry.details.at("champion") == bootstrap;
        }));
        EXPECT_EQ(node->registry().champion()->actor, "anna");
        expect_replayed(*node, first);
    }
    // a chain of that length is distilled: the candidate stands on one link in its place
    auto config = read(folder / "rampartd.toml");
    config.insert(config.find("[training]\n") + 11, "max_links = 2\n");
    ASSERT_TRUE(base::write_file_atomically(folder / "short.toml", config));
    const auto distilled = expect_shown("short.toml --model beta.rmp").policy;
    ASSERT_EQ(distilled.links().size(), 2u);
    EXPECT_TRUE(std::holds_alternative<model::LearnedLink>(distilled.links().front()));
    // at rest, the same command makes the next step
    const auto next = told("--model lgb.rmp");
    EXPECT_EQ(next.at("champion"), json::value(first));
    EXPECT_EQ(next.at("links"), 3);
    EXPECT_LT(next.at("distance").to_number<double>(), made.at("distance").to_number<double>());
    const auto second = rampart("candidate --config a/rampartd.toml --model lgb.rmp --submit");
    EXPECT_TRUE(second.exit_code == 0 || second.exit_code == 1) << second.output;
    EXPECT_THAT(second.output, HasSubstr("certificate: e1r2"));
    EXPECT_EQ(champion() != first, second.exit_code == 0);
}

}  // namespace
}  // namespace rampart
