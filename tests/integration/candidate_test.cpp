// From the workbench to the service: a model that was trained elsewhere on the exported log, as a
// candidate on the champion, judged by the gate, promoted and served.
#include "candidate_fixture.hpp"
#include "shown_model.hpp"

namespace rampart {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using testing::HasSubstr;

/// With two further models: a calibrated one, and one with thresholds by group.
class CandidateCommand : public test_support::CandidateStore {
  protected:
    static void SetUpTestSuite() {
        make_store("candidate_test");
        if (HasFatalFailure()) return;
        done(
            "postprocess --model m.rmp --data loans.csv --criterion statistical_parity --out "
            "groups.rmp");
        ASSERT_TRUE(base::write_file_atomically(
            out() / "calibrated.toml",
            "learner = \"gbdt\"\ntrees = 60\n[postprocess]\ncalibration = \"beta\"\n"));
        done("train --data loans.csv --schema s.toml --recipe calibrated.toml --out beta.rmp");
    }
    static void TearDownTestSuite() { remove(); }

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
    const auto made = told("--model lgb.rmp --submit");
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
            return entry.action == "propose_candidate" && entry.actor == "demo" &&
                   entry.details.at("candidate") == first &&
                   entry.details.at("champion") == bootstrap;
        }));
        EXPECT_EQ(node->registry().champion()->actor, "demo");
        test_support::expect_replayed(*node, first);
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
