// Each bundled recipe from training to replay, and recipes that cannot be trained by.
#include <filesystem>
#include <map>

#include "command_line.hpp"
#include "rampart/base/file.hpp"
#include "rampart/certification/certificate_file.hpp"
#include "rampart/decision/decider.hpp"
#include "rampart/wire/event_codec.hpp"
#include "services/rampartd/node.hpp"
#include "shown_model.hpp"
#include "support/places.hpp"
#include "tools/demo/comparison.hpp"

namespace rampart {
namespace {

using cli_tests::CommandLine;
using testing::HasSubstr;
namespace fs = std::filesystem;

const fs::path kRecipes = test_support::source_dir() + "/ops/config/recipes";

std::vector<std::string> bundled() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(kRecipes))
        names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<domain::Decision> logged_by(const rampartd::Node& node) {
    std::vector<domain::Decision> decisions;
    for (int32_t p = 0; p < node.log().partitions("decisions").value(); ++p) {
        const auto records =
            node.log()
                .read("decisions", streaming::PartitionId(p), streaming::Offset(0), 1'000'000)
                .value();
        for (const auto& stored : records)
            decisions.push_back(wire::decode_decision(stored.record.value).value());
    }
    return decisions;
}

class BundledRecipe : public CommandLine, public testing::WithParamInterface<std::string> {
  protected:
    std::string file() const { return (kRecipes / (GetParam() + ".toml")).string(); }
    /// Writes the recipe anew: candidates of so few rows are kept although they miss constraints.
    std::string lenient() const {
        const auto name = GetParam() + ".toml";
        const auto text = base::read_file(file(), 1 << 20).value();
        write(name, "allow_infeasible = true\n" + text);
        if (run("recipe check " + name).exit_code != 0) write(name, text);  // it has none
        return path(name);
    }
    /// Runs and certificates name the recipe as `recipe check` does.
    void expect_the_digest_of_recipe_check(const std::string& recipe, rampartd::Node& node) const {
        const auto checked = run(fmt::format("recipe check {} --json", recipe)).json();
        const std::string digest(checked.at("digest").as_string());
        const auto runs = node.trainer().runs().value();
        for (const auto& one : runs) {
            if (one.candidate.empty()) continue;
            EXPECT_EQ(one.figures.at("recipe"), digest);
            EXPECT_NE(one.figures.at("settings"), digest);
        }
        const auto certificates = node.registry().certificates().value();
        for (const auto& one : certificates) {
            const auto file = node.registry().certificate_file(one.id).value();
            const auto read =
                certification::read_certificate(file, node.keys().signing.public_key());
            EXPECT_EQ(read.value().plan.identity.recipe, digest);
        }
        EXPECT_TRUE(!certificates.empty() || GetParam() != "gbdt");
    }
};

TEST_P(BundledRecipe, IsExplainedAndChecked) {
    const auto text = base::read_file(file(), 1 << 20).value();
    for (const char* part : {"# When: ", "# Promises: ", "# Costs: "})
        EXPECT_THAT(text, HasSubstr(part));
    const auto checked = run(fmt::format("recipe check {} --json", file()));
    ASSERT_EQ(checked.exit_code, 0) << checked.err;
    EXPECT_EQ(checked.json().at("digest").as_string().size(), 64u);
}

/// Candidates are taken to the gate; what each of them, and the service, decides comes out again
/// and has reasons, and the last one has a card, explanations and an export, or says why not.
TEST_P(BundledRecipe, IsTrainedTakenToTheGateServedReplayedToTheBitAndShown) {
    const auto recipe = lenient();
    const auto demo = fmt::format(
        "'{0}/rampart-demo' --data simulated --rows 3000 --seed 1 --recipe {1} --program "
        "'{0}/rampart' --config-dir '{2}/ops/config' --out '{3}' > '{4}' 2>&1",
        test_support::bin_dir(), recipe, test_support::source_dir(), path("out"), path("log"));
    ASSERT_EQ(std::system(demo.c_str()), 0) << read("log");
    const auto settings = rampartd::load_settings(path("out/rampartd.toml")).value();
    const auto node = rampartd::Node::open(settings).value();
    const decision::DrawKey key{node->keys().ids.draw, node->keys().draw};
    std::map<domain::PolicyId, std::shared_ptr<const decision::PolicyInForce>> policies;
    const auto first = node->registry().promotions().front().policy;  // without a certificate
    const auto registered = node->registry().models().value();
    for (const auto& info : registered) {
        auto model = std::make_shared<const model::LoadedPolicy>(
            node->registry().load_model(info.id).value());
        auto policy = decision::PolicyInForce::create(std::move(model), info.id != first);
        ASSERT_TRUE(policy) << policy.error().message;
        policies[info.id] = *policy;
    }
    EXPECT_GE(policies.size(), 3u) << "too few candidates";
    expect_the_digest_of_recipe_check(recipe, *node);
    const auto decisions = logged_by(*node);
    ASSERT_GE(decisions.size(), 2900u);
    size_t replayed = 0;
    for (const auto& logged : decisions) {
        const auto& policy = *policies.at(logged.policy);
        if (policy.policy().group_aware()) continue;  // the group lies in another store
        const auto status = decision::replay(logged, policy, key, std::nullopt);
        ASSERT_TRUE(status) << status.error().message;
        ++replayed;
    }
    EXPECT_GT(replayed, 500u);
    const auto table = test_support::write_table(
        {.name = "simulated", .data_dir = {}, .rows = 3000, .seed = 1}, 300, folder_);
    for (const auto& [id, policy] : policies) {
        SCOPED_TRACE(id.value());
        test_support::expect_decided_and_replayed(table, *policy, key);
    }
    const auto last = registered.back().id;
    ASSERT_NE(last, first);
    test_support::expect_shown(table, path(fmt::format("out/store/registry/models/{}.rmp", last)));
}

INSTANTIATE_TEST_SUITE_P(Recipes, BundledRecipe, testing::ValuesIn(bundled()),
                         [](const auto& one) { return one.param; });

TEST(Comparison, NamesTheGroupThatGainsLeastAndTheGapBetweenGroups) {
    demo::Report report;
    report.learner = "eg";
    report.value_first = {{"everybody", 1.0}, {"a", 2.0}, {"b", 0.5}};
    report.value_final = {{"everybody", 4.0}, {"a", 6.0}, {"b", 1.5}};
    report.approved_first = {{"everybody", 0.9}, {"a", 0.5}, {"b", 0.7}};
    report.approved_final = {{"everybody", 0.1}, {"a", 0.6}, {"b", 0.65}};
    report.gate_runs.resize(2);
    report.gate_runs[0].delta = 0.02;
    report.gate_runs[1].verdict = "NO_SOLUTION_FOUND";
    auto& groups = report.gate_runs[1].groups;
    groups.resize(2);
    groups[0].name = "a", groups[0].lower_bound = 1;
    groups[1].name = "b", groups[1].lower_bound = -2;
    report.seconds = {{"service_cpu", 12}};
    auto one = demo::compared("mine", report);
    EXPECT_EQ(one.runs, 2);
    EXPECT_EQ(one.spent, 1);
    EXPECT_DOUBLE_EQ(one.gain, 3);
    EXPECT_DOUBLE_EQ(one.worst_gain, 1);
    EXPECT_EQ(one.worst_group, "b");
    EXPECT_DOUBLE_EQ(one.gap_first, 0.2);
    EXPECT_NEAR(one.gap_final, 0.05, 1e-12);
    EXPECT_EQ(one.cpu_seconds, 12);
    EXPECT_THAT(one.why_none,
                HasSubstr("NO_SOLUTION_FOUND; lower bound of the weakest group, b: -2"));
    report.certificates = report.certificates_right = 1;
    one = demo::compared("mine", report);
    EXPECT_EQ(one.why_none, "");
}

TEST_F(CommandLine, AllRecipesAreComparedOnOneStreamAndOneThatFailsIsNamed) {
    fs::copy(test_support::source_dir() + "/ops/config", path("config"),
             fs::copy_options::recursive);
    for (const auto& name : bundled())
        if (name != "gbdt" && name != "eg" && name != "ramp_within_feature")
            fs::remove(fs::path(path("config/recipes")) / (fmt::format("{}.toml", name)));
    write("config/recipes/forest.toml", "learner = \"forest\"\n");
    auto elsewhere = read("config/recipes/ramp_within_feature.toml");
    elsewhere.replace(elsewhere.find("annual_income"), 13, "PAY_0");
    write("config/recipes/ramp_within_feature.toml", elsewhere);
    const auto demo = fmt::format(
        "'{0}/rampart-demo' --data simulated --rows 1500 --seed 1 --recipe all --program "
        "'{0}/rampart' --config-dir '{1}' --out '{2}' > '{3}' 2>&1",
        test_support::bin_dir(), path("config"), path("out"), path("log"));
    EXPECT_NE(std::system(demo.c_str()), 0) << "one failed";
    const auto found = boost::json::parse(read("out/comparison.json"));
    ASSERT_EQ(found.at("recipes").as_array().size(), 4u);
    EXPECT_EQ(found.at("recipes").at(0).at("recipe"), "eg");
    EXPECT_EQ(found.at("recipes").at(1).at("recipe"), "forest");
    EXPECT_NE(found.at("recipes").at(1).at("failed"), "");
    EXPECT_THAT(read("log"), HasSubstr("1 of 4 recipes failed: forest"));
    EXPECT_EQ(found.at("recipes").at(2).at("learner"), "gbdt");
    EXPECT_EQ(found.at("recipes").at(3).at("left_out"), true) << "other features";
    EXPECT_THAT(read("log"), HasSubstr("left out: `within_feature` is 'PAY_0'"));
    for (const auto& one : found.at("recipes").as_array()) {
        if (one.at("failed") != "") continue;
        EXPECT_GT(one.at("runs").to_number<int>(), 0);
        EXPECT_GT(one.at("cpu_seconds").to_number<double>(), 0);
    }
    const auto page = read("out/comparison.html");
    EXPECT_THAT(page, HasSubstr("<a href='eg/report.html'>eg</a>"));
    EXPECT_THAT(page, HasSubstr("<svg"));
    EXPECT_TRUE(fs::exists(path("out/eg/report.html")));
    EXPECT_THAT(read("log"), HasSubstr("gap before"));
}

TEST_F(CommandLine, OfSeveralRecipesEachRunTakesOneAndTellsTheValuesOfAll) {
    write("trees.toml", "learner = \"gbdt\"\ntrees = 40\n");
    write("never.toml", "learner = \"fairgbm\"\ntrees = 20\ntolerance = 0.0\ntoward = false\n");
    const auto demo = fmt::format(
        "'{0}/rampart-demo' --data simulated --rows 3000 --seed 1 --recipe {1},{2},eg --program "
        "'{0}/rampart' --config-dir '{3}/ops/config' --out '{4}' > '{5}' 2>&1",
        test_support::bin_dir(), path("trees.toml"), path("never.toml"), test_support::source_dir(),
        path("out"), path("log"));
    ASSERT_EQ(std::system(demo.c_str()), 0) << read("log");
    const auto settings = rampartd::load_settings(path("out/rampartd.toml")).value();
    ASSERT_EQ(settings.training.recipes.size(), 3u);
    const auto node = rampartd::Node::open(settings).value();
    const auto runs = node->trainer().runs().value();
    ASSERT_GE(runs.size(), 3u);
    for (const auto& run : runs) {
        if (run.candidate.empty()) continue;
        const auto& figures = run.figures;
        for (const char* name : {"choice.trees", "choice.never", "choice.eg"})
            ASSERT_TRUE(figures.contains(name)) << name;
        EXPECT_THAT(figures.at("choice"), testing::AnyOf("trees", "eg"));
        EXPECT_THAT(figures.at("choice.never"), HasSubstr("no value: "));
        const auto& chosen = figures.at(fmt::format("choice.{}", figures.at("choice")));
        EXPECT_THAT(chosen, HasSubstr("chance of passing"));
        const auto policy =
            node->registry().load_model(domain::PolicyId(run.candidate)).value().policy;
        EXPECT_EQ(policy.provenance().at("learner"), figures.at("choice") == "eg" ? "eg" : "gbdt");
    }
    // impacts are learnt only where they are reported, and steps lie in their range
    const std::string by_impact =
        "learner = \"regression-trees\"\nlabel = \"impact\"\napprove_at_least = ";
    const auto refusal = [&](const std::string& least) {
        write("out/trees.toml", by_impact + least);
        const auto loaded = rampartd::load_settings(path("out/rampartd.toml"));
        return loaded ? std::string() : loaded.error().message;
    };
    EXPECT_THAT(refusal("-20"), testing::AllOf(HasSubstr("trees.toml, line 2: label: "),
                                               HasSubstr("computes it from its label")));
    auto product = read("out/product.toml");
    for (const char* key : {"\nfavourable = ", "\nunfavourable = "}) {
        const auto from = product.find(key);
        product.erase(from, product.find('\n', from + 1) - from);
    }
    product.insert(product.find("\ndeclined = "), "\nmeasure = \"points\"");
    write("out/product.toml", product +
                                  "\n[[measure]]\nname = \"points\"\nhorizon_months = 9\n"
                                  "grace_days = 9\nlo = -150\nhi = 75\n");
    EXPECT_EQ(refusal("-20"), "");
    EXPECT_THAT(refusal("-200"), HasSubstr("labels lie between -150 and 75"));
}

class BadRecipe : public CommandLine {
  protected:
    void SetUp() override {
        CommandLine::SetUp();
        write("loans.csv", loans(300));
        infer_schema("--protected sex --ignore id");
    }
    void infer_schema(const std::string& options) const {
        const auto ran =
            run(fmt::format("schema infer loans.csv --label repaid --favourable yes {}", options));
        ASSERT_EQ(ran.exit_code, 0) << ran.err;
        write("s.toml", ran.out);
    }
    std::string refusal(const std::string& recipe) const {
        write("r.toml", recipe);
        const auto ran = run("recipe check r.toml --schema s.toml");
        EXPECT_EQ(ran.exit_code, 2) << ran.out;
        return ran.err;
    }
};

TEST_F(BadRecipe, IsRefusedWithNameValueAndRemedy) {
    for (const auto& [recipe, parts] :
         std::vector<std::pair<std::string, std::vector<std::string>>>{
             {"learner = \"gbtd\"", {"learner", "gbtd", "gbdt, "}},
             {"learner = \"gbdt\"\ntress = 5", {"r.toml, line 2", "tress"}},
             {"learner = \"gbdt\"\ntrees = -5", {"r.toml, line 2", "trees", "-5"}},
             {"learner = \"gbdt\"\ntrees = \"many\"", {"r.toml, line 2", "trees"}},
             {"learner = \"gbdt\"\nconstraints = [\"fnr\"]",
              {"r.toml, line 2", "constraints", "fairgbm and not of gbdt", "leave it out"}},
             {"learner = \"fairgbm\"\nconstraints = [\"fnrr\"]", {"constraints", "fnrr", "fnr"}},
             {"learner = \"gbdt\"\nmonotone = [\"region=increasing\"]", {"region", "categor"}},
             {"learner = \"gbdt\"\nmonotone = [\"wealth=increasing\"]",
              {"r.toml, line 2: monotone", "wealth", "income"}},
             {"learner = \"fair-regression\"\napprove_at_least = 7",
              {"r.toml, line 2: approve_at_least", "'7'", "between 0 and 1"}},
             {"learner = \"gbdt\"\nallow_infeasible = true",
              {"r.toml, line 2: allow_infeasible", "no effect", "leave it out"}},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"parity\"",
              {"criterion", "parity", "statistical_parity"}},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"equalized_odds\"\ngamma = 0",
              {"gamma is 0", "equalized_odds", "thresholds"}},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"thresholds\"\ngroup = \"blind\"",
              {"r.toml, line 4", "group", "statistical_parity and not of thresholds"}},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"covariance\"\ngroup = \"blind\"",
              {"blind", "covariance", "statistical_parity"}},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"equal_opportunity\"\n"
              "tolerance = 1.5",
              {"r.toml, line 4", "tolerance", "1.5"}},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"thresholds\"\n"
              "constraints = [\"fnrr\"]",
              {"constraints", "fnrr", "fnr"}},
             {"learner = \"eg\"\n[postprocess]\ncriterion = \"equalized_odds\"",
              {"equalized_odds", "eg gives a decision", "take another learner"}}}) {
        const auto error = refusal(recipe);
        for (const auto& part : parts) EXPECT_THAT(error, HasSubstr(part)) << recipe;
    }
    // a schema has the names of protected columns, a product has their values as well
    const std::string member =
        "learner = \"gbdt\"\n[postprocess]\ncriterion = \"covariance\"\nmember = ";
    EXPECT_THAT(refusal(member + "\"race=white\""), HasSubstr("'race'; there are sex"));
    write("r.toml", member + "\"sex=c\"");
    const auto open = run("recipe check r.toml --schema s.toml");
    EXPECT_EQ(open.exit_code, 0) << open.err;
    const std::string with_product = fmt::format(
        "recipe check r.toml --schema s.toml --product {}/ops/config/products/simulated.toml",
        test_support::source_dir());
    const auto of_product = run(with_product);
    EXPECT_EQ(of_product.exit_code, 2);
    EXPECT_THAT(of_product.err, HasSubstr("no protected attribute 'sex'; there are race"));
    write("r.toml", member + "\"race=white\"");
    EXPECT_EQ(run(with_product).exit_code, 0);
    EXPECT_EQ(run("recipe check r.toml --schema s.toml --product none.toml").exit_code, 2);
    infer_schema("--ignore id,sex");
    write("r.toml", "learner = \"fairgbm\"\nconstraints = [\"fnr\"]");
    EXPECT_EQ(run(with_product).err, "");
    const auto service = run("recipe check r.toml --schema s.toml");
    EXPECT_EQ(service.exit_code, 0) << "a service has them in its product file" << service.err;
    EXPECT_THAT(service.err, HasSubstr("names no protected columns"));
}

TEST_F(BadRecipe, OfStrataByAFeatureIsRefusedWithNameValueAndRemedy) {
    for (const auto& [recipe, parts] :
         std::vector<std::pair<std::string, std::vector<std::string>>>{
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"statistical_parity\"\n"
              "within_feature = \"wealth\"",
              {"r.toml, line 4: postprocess.within_feature", "'wealth'", "income, region"}},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"statistical_parity\"\n"
              "within_feature = \"sex\"",
              {"r.toml, line 4: postprocess.within_feature", "'sex'", "protected attribute"}},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"statistical_parity\"\n"
              "within_feature = \"income\"\nwithin_cuts = [50, 20]",
              {"r.toml, line 5: postprocess.within_cuts", "20 after 50", "rise"}},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"statistical_parity\"\n"
              "within_feature = \"income\"",
              {"postprocess.within_cuts", "is empty", "[20000, 50000]"}},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"covariance\"\n"
              "within_feature = \"region\"\nwithin_pool = [\"moon\"]",
              {"r.toml, line 5: postprocess.within_pool", "'moon'", "north"}},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"statistical_parity\"\n"
              "within_feature = \"region\"\nwithin_missing = \"moon\"",
              {"r.toml, line 5: postprocess.within_missing", "'moon'", "leave it out"}},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"statistical_parity\"\n"
              "within_cuts = [50]",
              {"r.toml, line 4: postprocess.within_cuts", "no effect", "within_feature"}},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"equalized_odds\"\n"
              "within_feature = \"region\"",
              {"r.toml, line 4", "within_feature", "statistical_parity and not of"}},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"statistical_parity\"\n"
              "group = \"blind\"\nwithin_feature = \"region\"",
              {"within_feature", "blind", "leave one of them out"}}}) {
        const auto error = refusal(recipe);
        for (const auto& part : parts) EXPECT_THAT(error, HasSubstr(part)) << recipe;
    }
    // strata that only a table shows to be empty or small
    const auto in_strata = [&](const std::string& options) {
        write("r.toml",
              "learner = \"gbdt\"\n[postprocess]\ncriterion = \"statistical_parity\"\n"
              "within_feature = \"income\"\n" +
                  options);
        return run("recipe check r.toml --schema s.toml --data loans.csv");
    };
    const auto empty = in_strata("within_cuts = [50, 5000]\nwithin_least = 5\n");
    EXPECT_EQ(empty.exit_code, 2);
    for (const char* part : {"r.toml, line 4: postprocess.within_feature", "'income >= 5000'",
                             "none of the 300 rows", "leave its cut point out"})
        EXPECT_THAT(empty.err, HasSubstr(part));
    const auto small = in_strata("within_cuts = [65]\nwithin_missing = \"0\"\n");
    EXPECT_EQ(small.exit_code, 2);
    for (const char* part : {"group 'sex=", "rows in stratum 'income >= 65'", "within_least is 30"})
        EXPECT_THAT(small.err, HasSubstr(part));
    EXPECT_EQ(in_strata("within_cuts = [50]\nwithin_missing = \"0\"\nwithin_least = 5\n").exit_code,
              0);
}

TEST_F(BadRecipe, OfTheServiceIsNamedWhenTheServiceIsStarted) {
    fs::copy_file(test_support::source_dir() + "/ops/config/products/simulated.toml",
                  path("product.toml"));
    fs::copy_file(path("s.toml"), path("schema.toml"));
    for (const auto& [recipe, parts] :
         std::vector<std::pair<std::string, std::vector<std::string>>>{
             {"learner = \"gbdt\"\nconstraints = [\"fnr\"]\n", {"r.toml, line 2: constraints"}},
             // what only the deployment's features and labels tell
             {"learner = \"gbdt\"\nmonotone = [\"wealth=increasing\"]\n",
              {"training.recipe: ", "r.toml, line 2: monotone", "no feature 'wealth'"}},
             {"learner = \"gbdt\"\nmonotone = [\"region=increasing\"]\n",
              {"r.toml, line 2: monotone", "region", "categor"}},
             {"learner = \"gbdt\"\ninteractions = [\"income+wealth\"]\n",
              {"r.toml, line 2: interactions", "wealth"}},
             {"learner = \"fair-regression\"\napprove_at_least = 7\n",
              {"r.toml, line 2: approve_at_least", "'7'", "between 0 and 1"}},
             // what only the product's protected attributes tell: of the table it would be sex
             {"learner = \"fairgbm\"\nconstraints = [\"fnr@sex\"]\n",
              {"r.toml, line 2: constraints", "'fnr@sex'", "no protected attribute 'sex'", "race"}},
             {"learner = \"fair-regression\"\ndisparity_tolerance = [0.1, 0.2, "
              "0.1, 0.2, 0.1]\n",
              {"r.toml, line 2: disparity_tolerance", "5 values", "4 groups", "race=white"}},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"equalized_odds\"\n"
              "within = \"sex\"\n",
              {"r.toml, line 4: postprocess.within", "no protected attribute 'sex'", "race"}},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"covariance\"\n"
              "member = \"race=green\"\n",
              {"r.toml, line 4: postprocess.member", "race=green", "race=white"}},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"equalized_odds\"\n"
              "group_tolerances = [\"race=green:0.1\"]\n",
              {"r.toml, line 4: postprocess.group_tolerances", "race=green", "race=white"}}}) {
        write("r.toml", recipe);
        write("rampartd.toml",
              "product = \"product.toml\"\nschema = \"schema.toml\"\n[training]\nrecipe = "
              "\"r.toml\"\n[decision]\nprotected_attributes = \"group_aware\"\n");
        const auto ran = run("serve --config rampartd.toml");
        EXPECT_EQ(ran.exit_code, 2);
        EXPECT_THAT(ran.err, HasSubstr("rampartd.toml, line 4: training.recipe: "));
        for (const auto& part : parts) EXPECT_THAT(ran.err, HasSubstr(part));
    }
}

TEST_F(BadRecipe, InTheSettingsIsNamedAtItsKey) {
    fs::copy_file(test_support::source_dir() + "/ops/config/products/simulated.toml",
                  path("product.toml"));
    write("rampartd.toml",
          "product = \"product.toml\"\nschema = \"s.toml\"\n[decision]\n"
          "protected_attributes = \"group_aware\"\n[postprocess]\n"
          "criterion = \"equalized_odds\"\nwithin = \"sex\"\n");
    const auto ran = run("serve --config rampartd.toml");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr("rampartd.toml, line 7: postprocess.within: `within` is 'sex': "
                                   "there is no protected attribute 'sex'; there are race"));
}

TEST_F(BadRecipe, WhoseRuleReadsTheGroupNeedsAGroupAwareService) {
    auto config =
        base::read_file(test_support::source_dir() + "/ops/config/rampartd.toml", 1 << 20).value();
    const std::string none = "criterion = \"none\"\n";
    config.replace(config.find(none), none.size(), "criterion = \"equal_opportunity\"\n");
    write("rampartd.toml", config);
    const auto ran = run("serve --config rampartd.toml");
    EXPECT_EQ(ran.exit_code, 2);
    for (const char* part : {"equal_opportunity", "reads the group", "group_aware", "blind"})
        EXPECT_THAT(ran.err, HasSubstr(part));
}

TEST_F(CommandLine, PostprocessorsAreListedWithTheirOptions) {
    const auto all = run("postprocessors");
    ASSERT_EQ(all.exit_code, 0) << all.err;
    for (const char* name : {"none", "statistical_parity", "equal_opportunity", "equalized_odds",
                             "covariance", "thresholds"}) {
        EXPECT_THAT(all.out, HasSubstr(name));
        const auto one = run(fmt::format("postprocessors {} --json", name));
        ASSERT_EQ(one.exit_code, 0) << one.err;
        EXPECT_THAT(one.out, HasSubstr(*name == 'n' ? "\"gamma\"" : "\"tolerance\""));
    }
    EXPECT_THAT(run("postprocessors covariance").out, HasSubstr("member"));
    const auto unknown = run("postprocessors parity");
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("statistical_parity"));
}

TEST_F(CommandLine, LearnersAreListedWithTheirOptions) {
    const auto all = run("learners");
    ASSERT_EQ(all.exit_code, 0) << all.err;
    for (const char* name :
         {"gbdt", "fairgbm", "eg", "gs", "rs", "budro", "fair-regression", "regression-trees"}) {
        EXPECT_THAT(all.out, HasSubstr(name));
        const auto one = run(fmt::format("learners {} --json", name));
        ASSERT_EQ(one.exit_code, 0) << one.err;
        EXPECT_THAT(one.out, HasSubstr("\"trees\""));
    }
    EXPECT_THAT(run("learners fairgbm").out, HasSubstr("tolerance"));
    const auto unknown = run("learners forest");
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("forest"));
    EXPECT_THAT(unknown.err, HasSubstr("fairgbm"));
}

}  // namespace
}  // namespace rampart
