#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "rampart/base/random.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/decision/draw.hpp"
#include "rampart/model/model_file.hpp"
#include "support/places.hpp"

/// Fair regression as a user runs it, on small tables made here.
namespace rampart {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using testing::AllOf;
using testing::HasSubstr;

struct Ran {
    int exit_code = -1;
    std::string out, err;
    json::object parsed() const { return json::parse(out).as_object(); }
};

double number(const json::value& value) { return value.to_number<double>(); }

/// Grades from 0 to 4 that rise with effort; group b has less effort, and lower grades at the same
/// effort.
std::string grades(size_t n, uint64_t seed) {
    base::Random random(seed);
    std::string csv = "effort,noise,school,group,grade,passed\n";
    for (size_t i = 0; i < n; ++i) {
        const bool b = random.bernoulli(0.4), north = random.bernoulli(0.5);
        const double effort = random.uniform() * (b ? 0.8 : 1) + (b ? 0 : 0.1);
        const double grade = std::clamp(
            0.5 + 2.5 * effort + (north ? 0.3 : 0) - (b ? 0.4 : 0) + 0.3 * random.normal(), 0.0,
            4.0);
        csv +=
            fmt::format("{:.3f},{:.2f},{},{},{:.3f},{}\n", effort, random.normal(),
                        north ? "north" : "south", b ? "b" : "a", grade, grade >= 2 ? "yes" : "no");
    }
    return csv;
}

class Regression : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        folder_ = fs::path(testing::TempDir()) / fmt::format("rampart-regression-{}", getpid());
        fs::create_directories(folder_);
        write("grades.csv", grades(900, 3));
        ASSERT_EQ(run("schema infer grades.csv --target grade --range 0,4 --protected group "
                      "--ignore passed",
                      "schema.toml")
                      .exit_code,
                  0);
        ASSERT_EQ(run("schema infer grades.csv --label passed --favourable yes --protected group "
                      "--ignore grade",
                      "binary.toml")
                      .exit_code,
                  0);
    }
    static void TearDownTestSuite() { fs::remove_all(folder_); }

    static void write(const std::string& name, const std::string& text) {
        std::ofstream(folder_ / name) << text;
    }
    static std::string read(const std::string& name) {
        std::stringstream text;
        text << std::ifstream(folder_ / name).rdbuf();
        return text.str();
    }
    /// Runs it in the folder; standard output goes to `out`.
    static Ran run(std::string arguments, const std::string& out = ".out") {
        arguments += " > " + out;
        const auto command = fmt::format("cd '{}' && '{}/rampart' {} 2> .err", folder_.string(),
                                         test_support::bin_dir(), arguments);
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(out), read(".err")};
    }
    static Ran train(const std::string& more, const std::string& schema = "schema.toml",
                     const std::string& data = "grades.csv") {
        const auto unless = [&](const std::string& option, int value) {
            return more.find(option) == std::string::npos ? fmt::format(" {} {}", option, value)
                                                          : std::string();
        };
        return run(fmt::format(
            "train --learner fair-regression --data {} --schema {} --trees 12 "
            "--leaves 6 --learning-rate 0.3{}{} --out m.rmp --json {}",
            data, schema, unless("--grid", 20), unless("--max-oracle-calls", 12), more));
    }
    static json::object evaluated(const std::string& split) {
        const auto ran =
            run(fmt::format("evaluate --model m.rmp --data grades.csv --split {} --json", split));
        EXPECT_EQ(ran.exit_code, 0) << ran.err;
        return ran.parsed();
    }
    static inline fs::path folder_;
};

/// The figures of training about rows are those of the model file.
void expect_served(const json::object& judged, const json::object& served) {
    EXPECT_NEAR(number(judged.at("disparity")), number(served.at("disparity")), 1e-9);
}

TEST_F(Regression, ParityIsKeptCertifiedAndServedAsItWasLearnt) {
    for (const std::string oracle : {"gbdt", "linear"}) {
        const auto ran =
            train(fmt::format("--oracle {} --disparity-tolerance 0.05 --report r.html", oracle));
        ASSERT_EQ(ran.exit_code, 0) << ran.err;
        const auto result = ran.parsed().at("regression").as_object();
        const auto& on_train = result.at("train").as_object();
        EXPECT_LE(number(on_train.at("disparity")), 0.05 + 1e-6) << oracle;
        EXPECT_TRUE(on_train.at("feasible").as_bool());
        EXPECT_LE(number(result.at("lower_bound")), number(on_train.at("loss")));
        EXPECT_NEAR(number(result.at("gap")),
                    number(on_train.at("loss")) - number(result.at("lower_bound")), 1e-12);
        double weights = 0;
        for (const auto& member : result.at("members").as_array())
            weights += number(member.at("weight"));
        EXPECT_NEAR(weights, 1, 1e-9);
        expect_served(on_train, evaluated("train"));
        expect_served(result.at("validation").as_object(), evaluated("validation"));
        EXPECT_THAT(read("r.html"), AllOf(HasSubstr("<svg"), HasSubstr("group=a"),
                                          HasSubstr("group=b"), HasSubstr("Distribution")));
    }
}

TEST_F(Regression, PeopleSeeLossDisparityBoundsAndMembers) {
    const auto ran =
        run("train --learner fair-regression --data grades.csv --schema schema.toml "
            "--trees 8 --leaves 6 --grid 10 --max-oracle-calls 8 --disparity-tolerance 0.1 --out "
            "m.rmp");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("statistical parity, squared loss"), HasSubstr("RMSE"),
                               HasSubstr("disparity"), HasSubstr("kept"), HasSubstr("gap"),
                               HasSubstr("one of 11 levels"), HasSubstr("weight")));
}

TEST_F(Regression, WithoutAConstraintTheLossIsLeastAndWithNoneAllowedAllAreAlike) {
    const auto figures = [](const std::string& epsilon) {
        const auto ran = train("--disparity-tolerance " + epsilon);
        EXPECT_EQ(ran.exit_code, 0) << ran.err;
        const auto result = ran.parsed().at("regression").at("train").as_object();
        return std::pair(number(result.at("loss")), number(result.at("disparity")));
    };
    const auto [free_loss, free] = figures("1");
    const auto [some_loss, some] = figures("0.1");
    const auto [no_loss, no] = figures("0");
    EXPECT_GT(free, 0.15);
    EXPECT_LE(some, 0.1 + 1e-6);
    EXPECT_NEAR(no, 0, 1e-6);
    EXPECT_LE(free_loss, some_loss + 1e-6);
    EXPECT_LE(some_loss, no_loss + 1e-6);
}

TEST_F(Regression, EpsilonMayDifferByGroupAndOneLevelIsEnough) {
    const auto two = train("--disparity-tolerance 0.02,0.2");
    ASSERT_EQ(two.exit_code, 0) << two.err;
    EXPECT_TRUE(two.parsed().at("regression").at("train").at("feasible").as_bool());
    const auto three = train("--disparity-tolerance 0.1,0.1,0.1");
    EXPECT_EQ(three.exit_code, 2);
    EXPECT_THAT(three.err, AllOf(HasSubstr("3 values"), HasSubstr("group=a; group=b")));
    const auto one = train("--grid 1 --disparity-tolerance 0.05");
    ASSERT_EQ(one.exit_code, 0) << one.err;
    EXPECT_EQ(number(one.parsed().at("regression").at("levels")), 1);
    expect_served(one.parsed().at("regression").at("train").as_object(), evaluated("train"));
}

TEST_F(Regression, EveryLossReductionAndMethodRuns) {
    for (const std::string how :
         {"--loss logistic --loss-parameter 4", "--loss absolute",
          "--loss quantile "
          "--loss-parameter 0.8",
          "--loss huber", "--loss poisson", "--reduction least-squares",
          "--reduction cost-sensitive --refine 3", "--method eg --max-oracle-calls 6",
          "--method eg-paper --max-oracle-calls 6"}) {
        const auto ran = train(how + " --disparity-tolerance 0.1");
        ASSERT_EQ(ran.exit_code, 0) << how << ": " << ran.err;
        EXPECT_TRUE(ran.parsed().at("regression").at("train").at("feasible").as_bool()) << how;
    }
    const auto wrong = train("--loss squared --loss-parameter 3");
    EXPECT_EQ(wrong.exit_code, 2);
    EXPECT_THAT(wrong.err, HasSubstr("the squared loss has none"));
    EXPECT_EQ(train("--loss quantile --loss-parameter 1.5").exit_code, 2);
}

TEST_F(Regression, LabelsOfTwoValuesGetARiskScore) {
    const auto ran =
        train("--loss logistic --disparity-tolerance 0.05 --approve-at-least 0.6", "binary.toml");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    expect_served(ran.parsed().at("regression").at("train").as_object(), evaluated("train"));
    const auto all = evaluated("all");
    EXPECT_GT(number(all.at("auc")), 0.6);
    // parity at every threshold
    for (const double t : {0.3, 0.5, 0.7}) {
        const auto one = run(fmt::format("evaluate --model m.rmp --data grades.csv --split train "
                                         "--threshold {} --json",
                                         t))
                             .parsed();
        double least = 1, most = 0;
        for (const auto& group : one.at("groups").as_array()) {
            least = std::min(least, number(group.at("approval_rate")));
            most = std::max(most, number(group.at("approval_rate")));
        }
        EXPECT_LE(most - least, 0.1 + 1e-6) << t;
    }
}

TEST_F(Regression, BoundedGroupLossIsOnePredictor) {
    const auto ran = train("--notion bounded_group_loss --zeta 0.02 --report b.html");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const auto result = ran.parsed().at("regression").as_object();
    EXPECT_EQ(result.at("outcome"), "feasible");
    for (const auto& [group, loss] : result.at("train").at("group_losses").as_object())
        EXPECT_LE(number(loss), 0.02 + 1e-6) << group;
    const auto served = evaluated("train");
    EXPECT_NEAR(number(served.at("loss")), number(result.at("train").at("loss")), 1e-9);
    const auto link = model::load_model_file(folder_ / "m.rmp").value();
    EXPECT_FALSE(link.policy.draws_score());
    EXPECT_THAT(read("b.html"), HasSubstr("<svg"));
}

TEST_F(Regression, InfeasibleBoundsAreProvenInfeasible) {
    fs::remove(folder_ / "m.rmp");
    const auto ran =
        train("--notion bounded_group_loss --oracle linear --zeta 0.001 --report p.html");
    EXPECT_EQ(ran.exit_code, 3) << ran.err;
    EXPECT_FALSE(fs::exists(folder_ / "m.rmp"));
    const auto result = ran.parsed().at("regression").as_object();
    EXPECT_EQ(result.at("outcome"), "infeasible");
    const auto& proof = result.at("proof").as_object();
    EXPECT_TRUE(proof.at("checked").as_bool());
    EXPECT_GT(number(proof.at("margin")), 0);
    double sum = 0;
    for (const auto& [group, multiplier] : proof.at("multipliers").as_object())
        sum += number(multiplier);
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT_THAT(read("p.html"),
                AllOf(HasSubstr("no mixture keeps the bounds"), HasSubstr("multiplier")));
    const auto missing = train("--notion bounded_group_loss");
    EXPECT_EQ(missing.exit_code, 2);
    EXPECT_THAT(missing.err, HasSubstr("--zeta"));
}

// ---- trees without regard to groups

TEST_F(Regression, TreesLearnWhatTheirLossStandsForAndAreServedAsANumber) {
    const auto trees = [](const std::string& how, const std::string& more = "--out t.rmp --json") {
        return run(
            fmt::format("train --learner regression-trees --data grades.csv --schema "
                        "schema.toml --trees 40 --leaves 6 {} {}",
                        how, more));
    };
    struct Case {
        std::string loss;
        bool mean;                         // the score stands for one
        bool in_units;                     // the score lies where labels do
        std::optional<double> order = {};  // the score is a quantile
    };
    for (const auto& [loss, mean, in_units, order] :
         {Case{"squared", true, true}, Case{"logistic", true, false}, Case{"poisson", true, false},
          Case{"tweedie --variance-power 1.4", true, false},
          Case{"huber --loss-parameter 0.05", false, true}, Case{"absolute", false, true, 0.5},
          Case{"quantile --loss-parameter 0.9", false, false, 0.9}}) {
        const auto ran = trees("--loss " + loss);
        ASSERT_EQ(ran.exit_code, 0) << loss << ran.err;
        const auto all = ran.parsed();
        const auto& figures = all.at("regression-trees").as_object();
        const auto served =
            run("evaluate --model t.rmp --data grades.csv --split validation --json").parsed();
        EXPECT_NEAR(number(served.at("loss")), number(figures.at("validation_loss")), 1e-9) << loss;
        EXPECT_NEAR(number(all.at("validation").at("loss")), number(served.at("loss")), 1e-12);
        if (in_units) {
            EXPECT_LT(number(served.at("mean_absolute_error")), 0.55) << loss;
        }
        ASSERT_EQ(figures.contains("training_mean_error"), mean) << loss;
        if (mean) {
            EXPECT_NEAR(number(figures.at("training_mean_error")), 0, 0.06) << loss;
        }
        ASSERT_EQ(figures.contains("training_at_most_score"), order.has_value()) << loss;
        if (order) {
            EXPECT_NEAR(number(figures.at("training_at_most_score")), *order, 0.06) << loss;
        }
    }
    EXPECT_THAT(trees("--loss quantile --loss-parameter 0.9", "--out q.rmp").out,
                AllOf(HasSubstr("of the labels are at most the score, 0.9 should"),
                      HasSubstr("quantile 0.9")));
    EXPECT_EQ(run("card --model q.rmp --data grades.csv --out q.html").exit_code, 0);
    const auto explained = run("explain --model q.rmp --data grades.csv");
    EXPECT_EQ(explained.exit_code, 2);
    EXPECT_THAT(explained.err, HasSubstr("the label of grades.csv is a number"));
    const auto exported = run("export --model q.rmp --to lightgbm --out q.txt");
    EXPECT_EQ(exported.exit_code, 2);
    EXPECT_THAT(exported.err, HasSubstr("its score is"));
    EXPECT_THAT(trees("--zeta 1 --report r.html").err,
                AllOf(HasSubstr("--zeta has no effect without --learner fair-regression"),
                      HasSubstr("--report has no effect without --learner fair-regression")));
    EXPECT_THAT(trees("--approve-at-least 7").err, HasSubstr("labels lie between 0 and 4"));
    EXPECT_THAT(trees("--loss tweedie", "--out d.rmp").out, HasSubstr("; deviance "));
    EXPECT_THAT(trees("--loss tweedie --loss-parameter 2").err,
                HasSubstr("--loss-parameter has no effect"));
    EXPECT_THAT(trees("--loss poisson --variance-power 1.4").err,
                HasSubstr("--variance-power has no effect"));
    EXPECT_THAT(trees("--postprocess ramp").err, HasSubstr("regression-trees gives a decision"));
}

/// Whether labels are numbers is declared, and does not follow from their range.
TEST_F(Regression, RatesByLabelAreRefusedForNumbersFromZeroToOneAndNotForAProductsLabel) {
    auto schema = dataset::read_table_schema(folder_ / "schema.toml").value();
    schema.label_range = {0, 1};
    write("shares.toml", dataset::write_table_schema(schema));
    write("rate.toml", "learner = \"regression-trees\"\noperate_at = \"fpr<=0.05\"\n");
    const std::string check = "recipe check rate.toml --schema shares.toml";
    const auto refused = run(check);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err,
                AllOf(HasSubstr("rate.toml, line 2: operate_at: `operate_at` is 'fpr<=0.05', and "
                                "labels are numbers"),
                      HasSubstr("give a share of approvals, as in approve=0.7")));
    const auto service = run(fmt::format("{} --product {}/ops/config/products/simulated.toml",
                                         check, test_support::source_dir()));
    EXPECT_EQ(service.exit_code, 0) << "it repays or does not" << service.err;
    write("rate.toml", "learner = \"regression-trees\"\noperate_at = \"approve=0.6\"\n");
    EXPECT_EQ(run(check).exit_code, 0);
}

TEST_F(Regression, AQuantileOfLabelsOfTwoValuesIsRefused) {
    write("q.toml", "learner = \"regression-trees\"\nloss = \"quantile\"\nloss_parameter = 0.9\n");
    EXPECT_EQ(run("recipe check q.toml --schema schema.toml").exit_code, 0);
    const auto refused = run("recipe check q.toml --schema binary.toml");
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("q.toml, line 1: learner: labels are of two values"),
                                   HasSubstr("learns numbers")));
    EXPECT_EQ(
        run("train --recipe q.toml --data grades.csv --schema binary.toml --out b.rmp").exit_code,
        2);
    const auto ran =
        run("train --recipe q.toml --data grades.csv --schema schema.toml --out n.rmp");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    write("s.toml", "learner = \"regression-trees\"\nloss = \"logistic\"\ntrees = 20\n");
    EXPECT_EQ(
        run("train --recipe s.toml --data grades.csv --schema binary.toml --out b.rmp").exit_code,
        0);
}

// ---- tables that cannot be learnt from

TEST_F(Regression, LabelsOfTheWrongKindAreNamed) {
    const auto plain = run("train --data grades.csv --schema schema.toml --out x.rmp");
    EXPECT_EQ(plain.exit_code, 2);
    EXPECT_THAT(plain.err, AllOf(HasSubstr("the label is a number"), HasSubstr("fair-regression")));
    write("wrong.toml",
          "label = \"passed\"\nlabel_range = {lo = 0, hi = 1}\n"
          "protected = [\"group\"]\nignored = [\"grade\", \"noise\", \"school\"]\n"
          "[[feature]]\nname = \"effort\"\nkind = \"numeric\"\n");
    const auto text = train("", "wrong.toml");
    EXPECT_EQ(text.exit_code, 2);
    EXPECT_THAT(text.err, AllOf(HasSubstr("not a number"), HasSubstr("favourable")));
    const auto frontier = run("frontier --data grades.csv --schema schema.toml --out f0");
    EXPECT_EQ(frontier.exit_code, 2);
    EXPECT_THAT(frontier.err, HasSubstr("the label is a number"));
}

TEST_F(Regression, LabelsOutsideTheRangeOrAllAlikeAreNamed) {
    auto schema = read("schema.toml");
    schema.replace(schema.find("hi = 4"), 6, "hi = 2");
    write("narrow.toml", schema);
    const auto outside = train("", "narrow.toml");
    EXPECT_EQ(outside.exit_code, 2);
    EXPECT_THAT(outside.err, AllOf(HasSubstr("line "), HasSubstr("outside label_range from 0 to 2"),
                                   HasSubstr("widen")));
    write("same.csv",
          "effort,noise,school,group,grade,passed\n1,1,north,a,2,yes\n"
          "2,1,south,b,2,no\n3,0,north,a,2,no\n");
    const auto same = train("", "schema.toml", "same.csv");
    EXPECT_EQ(same.exit_code, 2);
    EXPECT_THAT(same.err, HasSubstr("there is nothing to learn"));
}

TEST_F(Regression, GroupsAreNeededInEveryPart) {
    write("few.csv",
          "effort,noise,school,group,grade,passed\n1,1,north,a,2,yes\n"
          "2,1,south,b,1,no\n3,0,north,a,3,no\n1,0,north,a,3.5,no\n2,2,north,a,0,no\n");
    const auto few = train("--split 60/40/0", "schema.toml", "few.csv");
    EXPECT_EQ(few.exit_code, 2);
    EXPECT_THAT(few.err, AllOf(HasSubstr("group=b"), HasSubstr("has no rows")));
    auto schema = read("schema.toml");
    schema.replace(schema.find("protected = [\"group\"]"), 21, "protected = []");
    schema.replace(schema.find("ignored = [\n"), 12, "ignored = [\n    \"group\",\n");
    write("none.toml", schema);
    const auto none = train("", "none.toml");
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_THAT(none.err, HasSubstr("needs protected groups"));
}

TEST_F(Regression, OptionsThatDoNotGoTogetherAreNamed) {
    for (const auto& [how, said] : std::vector<std::pair<std::string, std::string>>{
             {"--postprocess ramp", "learner fair-regression gives a drawn score"},
             {"--resume m.rmp", "does not go on from a model"},
             {"--approve-at-least 1 --approve-at-most 2", "not both"},
             {"--approve-at-least 7", "labels lie between 0 and 4"},
             {"--disparity-tolerance 1.5", "--disparity-tolerance"}}) {
        const auto ran = train(how);
        EXPECT_EQ(ran.exit_code, 2) << how;
        EXPECT_THAT(ran.err, HasSubstr(said)) << how;
    }
    EXPECT_THAT(train("--zeta 0.1 --ridge 1 --tolerance 0.1").err,
                AllOf(HasSubstr("--zeta has no effect without --notion bounded_group_loss"),
                      HasSubstr("--ridge has no effect without --oracle linear"),
                      HasSubstr("--tolerance has no effect without --learner fairgbm")));
}

// ---- commands that show the model

TEST_F(Regression, DecideTellsTheDistributionAndTheDraw) {
    ASSERT_EQ(train("--disparity-tolerance 0.02 --approve-at-most 2").exit_code, 0);
    write("a.json", R"({"application_id": "a-1", "person_id": "p-1",
        "event_time": "2024-01-01T00:00:00Z",
        "features": {"effort": 0.6, "noise": 0, "school": "north"}})");
    write("key", std::string(64, '7'));
    const auto plain = run("decide a.json --model m.rmp --json").parsed();
    double sum = 0, below = 0, mean = 0;
    for (const auto& mass : plain.at("scores").as_array()) {
        const double score = number(mass.at("score")), weight = number(mass.at("probability"));
        sum += weight;
        mean += weight * score;
        below += score <= 0.5 ? weight : 0;
    }
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT_NEAR(mean, number(plain.at("score")), 1e-9);
    EXPECT_NEAR(below, number(plain.at("p_approve")), 1e-9);
    EXPECT_FALSE(plain.contains("drawn_score"));
    fs::permissions(folder_ / "key", fs::perms::owner_read | fs::perms::owner_write);
    const std::string with_key = "decide a.json --model m.rmp --draw-key key";
    EXPECT_THAT(run(with_key).err, HasSubstr("--product"));
    const auto drawn = run(with_key + " --product loan --at 2024-01-02 --json");
    ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
    const auto answer = drawn.parsed();
    const decision::DrawKey draw_key{"", std::string(32, 0x77)};
    const domain::PersonId person("p-1");
    const auto window = decision::draw_window(draw_key, person, {"loan", 30},
                                              base::parse_iso8601("2024-01-02").value());
    EXPECT_EQ(number(answer.at("draw")), decision::window_draw(draw_key, person, window));
    const auto later = run(with_key + " --product loan --at 2024-04-02 --json").parsed();
    EXPECT_NE(number(later.at("draw")), number(answer.at("draw")));
    const auto shorter = run(with_key + " --product loan --cool-off-days 7 --json").parsed();
    EXPECT_NE(number(shorter.at("draw")), number(answer.at("draw")));
    const bool approved = answer.at("action") == "approve";
    EXPECT_EQ(approved, number(answer.at("drawn_score")) <= 0.5);
    EXPECT_NEAR(number(answer.at("propensity")), approved ? below : 1 - below, 1e-9);
    const auto none = run("decide a.json --model m.rmp --draw-key nokey");
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_THAT(none.err, HasSubstr("keys/draw"));
    EXPECT_FALSE(fs::exists(folder_ / "nokey"));
}

TEST_F(Regression, DecideReadsAnApplicationByTheSchemaFileOfTheService) {
    ASSERT_EQ(train("--disparity-tolerance 0.02 --approve-at-most 2").exit_code, 0);
    const auto write_application = [&](const std::string& features) {
        write("a.json", fmt::format(R"({{"application_id": "a-1", "person_id": "p-1",
            "event_time": "2024-01-01T00:00:00Z", "features": {{{}}}}})",
                                    features));
    };
    const std::string command = "decide a.json --model m.rmp";
    write_application(R"("effort": 0.6, "noise": 0, "school": "north")");
    const auto plain = run(command + " --json").parsed();
    write("served.toml",
          "label = \"passed\"\nfavourable = \"yes\"\n"
          "[[feature]]\nname = \"work\"\nkind = \"numeric\"\nwas = [\"effort\"]\n"
          "accepted_until = \"2030-01-01\"\n"
          "[[feature]]\nname = \"noise\"\nkind = \"numeric\"\ndefault = 0\n"
          "[[feature]]\nname = \"school\"\nkind = \"categorical\"\n"
          "categories = [\"north\", \"south\"]\n"
          "[[feature]]\nname = \"age\"\nkind = \"numeric\"\noptional = true\n");
    write_application(R"("work": 0.6, "school": "north", "age": 30)");
    EXPECT_EQ(run(command).exit_code, 2);
    EXPECT_THAT(run(command).err, HasSubstr("feature 'work' is not in the schema"));
    const auto by_file = run(command + " --schema served.toml --json");
    ASSERT_EQ(by_file.exit_code, 0) << by_file.err;
    EXPECT_EQ(json::serialize(by_file.parsed()), json::serialize(plain));
    write_application(R"("school": "north")");
    EXPECT_THAT(run(command + " --schema served.toml").err, HasSubstr("'work' is not given"));
    const auto served = run("decide a.json --url localhost:1 --schema served.toml");
    EXPECT_EQ(served.exit_code, 2);
    EXPECT_THAT(served.err, HasSubstr("--schema goes with --model"));
    write("served.toml", "label = \"passed\"\n[[feature]]\nname = \"work\"\nkind = \"numeric\"\n");
    const auto other = run(command + " --schema served.toml");
    EXPECT_EQ(other.exit_code, 2) << other.err;
}

TEST_F(Regression, InspectCardAndExplainKnowTheScale) {
    ASSERT_EQ(train("--disparity-tolerance 0.05").exit_code, 0);
    EXPECT_THAT(run("inspect model m.rmp").out, HasSubstr("on the unit scale, one of 21 levels"));
    const auto card = run("card --model m.rmp --data grades.csv --out card.html --json");
    ASSERT_EQ(card.exit_code, 0) << card.err;
    EXPECT_GT(number(card.parsed().at("performance").at("loss")), 0);
    EXPECT_THAT(read("card.html"), AllOf(HasSubstr("<svg"), HasSubstr("fair-regression"),
                                         HasSubstr("the test rows of grades.csv")));
    EXPECT_THAT(run("export --to lightgbm --model m.rmp --out x.txt").err,
                testing::AnyOf(HasSubstr("one ensemble"), HasSubstr("unit scale")));
    EXPECT_THAT(run("postprocess --model m.rmp --data grades.csv --out x.rmp").err,
                HasSubstr("no probability"));
}

TEST_F(Regression, ALinearModelIsShownByItsTerms) {
    ASSERT_EQ(train("--oracle linear --disparity-tolerance 0.2").exit_code, 0);
    const auto link =
        json::parse(run("inspect model m.rmp --json").out).at("links").at(0).as_object();
    ASSERT_FALSE(link.at("linear_models").as_array().empty());
    EXPECT_GT(number(link.at("linear_models").at(0).at("terms").at("effort")), 0);
    EXPECT_EQ(link.at("score_scale"), "unit");
    const auto explained = run("explain --model m.rmp --data grades.csv --row 1");
    const auto first = model::load_model_file(folder_ / "m.rmp").value();
    if (first.policy.last_learned()->members.front().linear > 0) {
        EXPECT_EQ(explained.exit_code, 2);
        EXPECT_THAT(explained.err, HasSubstr("inspect model --json"));
    }
}

// ---- the frontier

TEST_F(Regression, AFrontierComparesLearnersAndGoesOn) {
    const std::string command =
        "frontier --data grades.csv --schema binary.toml --loss logistic --split 50/0/50 "
        "--learners fair-regression,fair-regression-linear,unconstrained,seo,fair-classification "
        "--trees 8 --leaves 5 --grid 20 --max-oracle-calls 8 --reduction-fits 4 --out front "
        "--json ";
    const auto one = run(command + "--tolerances 0.05");
    ASSERT_EQ(one.exit_code, 0) << one.err;
    const auto first = read("front/points.csv");
    const auto two = run(command + "--tolerances 0.05,1");
    ASSERT_EQ(two.exit_code, 0) << two.err;
    EXPECT_EQ(read("front/points.csv").substr(0, first.size()), first);
    const auto points = two.parsed().at("points").as_array();
    ASSERT_EQ(points.size(), 8u);  // two of three learners, one of unconstrained and seo
    for (const auto& point : points) {
        const auto& p = point.as_object();
        EXPECT_LE(number(p.at("loss_band").at(0)), number(p.at("loss_band").at(1)));
        const std::string learner(p.at("learner").as_string());
        if (!learner.starts_with("fair-regression")) continue;
        EXPECT_LE(number(p.at("train_disparity")), number(p.at("tolerance")) + 1e-6);
    }
    EXPECT_THAT(read("front/frontier.html"),
                AllOf(HasSubstr("<svg"), HasSubstr("fair-classification"), HasSubstr("seo")));
    const auto other = run(command + "--tolerances 0.05 --seed 9");
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_THAT(other.err, HasSubstr("another run"));
}

TEST_F(Regression, AFrontierRefusesWhatItCannotCompare) {
    const auto mixed =
        run("frontier --data grades.csv --schema binary.toml --out f1 "
            "--learners fair-regression,fairgbm");
    EXPECT_EQ(mixed.exit_code, 2);
    EXPECT_THAT(mixed.err, HasSubstr("make two frontiers"));
    const auto numeric =
        run("frontier --data grades.csv --schema schema.toml --out f2 "
            "--learners fair-classification");
    EXPECT_EQ(numeric.exit_code, 2);
    EXPECT_THAT(numeric.err, HasSubstr("labels of two values"));
    const auto no_test =
        run("frontier --data grades.csv --schema schema.toml --out f3 "
            "--learners seo --split 60/40/0");
    EXPECT_EQ(no_test.exit_code, 2);
    EXPECT_THAT(no_test.err, HasSubstr("50/0/50"));
}

}  // namespace
}  // namespace rampart
