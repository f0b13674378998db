#include <gmock/gmock.h>

#include <boost/json.hpp>

#include "loan_model.hpp"
#include "rampart/model/model_file.hpp"

/// The output of commands that show models, for a model whose last link is a mixture.
namespace rampart {
namespace {

namespace json = boost::json;
using testing::AllOf;
using testing::HasSubstr;

class MixtureCommands : public LoanModel {
  protected:
    /// The iterates of m.rmp after 10, 20 and all 40 trees, with its own threshold for the last
    /// one; two_models.rmp also has a second ensemble.
    void SetUp() override {
        const auto loaded = model::load_model_file(folder_ / "m.rmp").value();
        link_ = *loaded.policy.last_learned();
        link_.members = {{0, 10, 0.25, {}}, {0, 20, 0.25, {}}, {0, 0, 0.5, model::RampRule{}}};
        link_.members[2].ramp->thresholds = {0.2};
        save(loaded.policy, "mixed.rmp");
        link_.additional_ensembles = {{0.5, {}}};
        link_.members[0] = {1, 0, 0.25, {}};
        save(loaded.policy, "two_models.rmp");
    }
    void save(const model::Policy& policy, const std::string& name) const {
        const auto mixed =
            model::Policy::create(policy.schema(), {link_}, {}, policy.provenance(), policy.state())
                .value();
        ASSERT_TRUE(model::save_model_file(mixed, folder_ / name));
    }

    model::LearnedLink link_;
};

TEST_F(MixtureCommands, InspectSaysWhatIsMixed) {
    const auto ran = run("inspect model two_models.rmp");
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr("a mixture of 3 members over 2 ensembles with 40 trees"));
    const auto link = json::parse(run("inspect model mixed.rmp --json").output).at("links").at(0);
    EXPECT_EQ(link.at("members"), 3);
    EXPECT_EQ(link.at("ensembles"), 1);
    EXPECT_EQ(json::parse(run("inspect model m.rmp --json").output).at("links").at(0).at("members"),
              0);
}

TEST_F(MixtureCommands, EvaluateMeasuresTheMixture) {
    const auto approved = [](const std::string& model) {
        const auto ran = run(fmt::format("evaluate --model {} --data loans.csv --json", model));
        EXPECT_EQ(ran.exit_code, 0) << ran.output;
        return json::parse(ran.output).at("approval_rate").to_number<double>();
    };
    EXPECT_NE(approved("mixed.rmp"), approved("m.rmp"));
}

TEST_F(MixtureCommands, ExplainTakesTheFirstEnsembleApartAndSaysSo) {
    const auto mixed = run("explain --model mixed.rmp --data loans.csv --row 3");
    ASSERT_EQ(mixed.exit_code, 0) << mixed.output;
    EXPECT_THAT(mixed.output,
                AllOf(HasSubstr("a mixture of 3 members over 1 ensemble with 40 trees"),
                      HasSubstr("its first ensemble, all 40 trees of it")));
    const auto row = [](const std::string& model) {
        run(
            fmt::format("explain --model {} --data loans.csv --row 3 --json > row.json "
                        "2> notes.txt; true",
                        model));
        return json::parse(read("row.json")).at("rows").at(0).at("raw").to_number<double>();
    };
    EXPECT_EQ(row("mixed.rmp"), row("m.rmp"));
}

TEST_F(MixtureCommands, ACardNamesTheMixture) {
    const auto ran = run("card --model mixed.rmp --data loans.csv --out card.html --plots 1");
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_NE(read("card.html").find("a mixture of 3 members over 1 ensemble"), std::string::npos);
}

TEST_F(MixtureCommands, ExportWritesOneEnsembleAndRefusesSeveral) {
    const auto one = run("export --to lightgbm --model mixed.rmp --out one.txt");
    EXPECT_EQ(one.exit_code, 0) << one.output;
    EXPECT_THAT(one.output, HasSubstr("not about the mean that decides"));
    const auto two = run("export --to lightgbm --model two_models.rmp --out two.txt");
    EXPECT_EQ(two.exit_code, 2) << two.output;
    EXPECT_THAT(two.output, HasSubstr("one LightGBM model holds one ensemble"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "two.txt"));
}

}  // namespace
}  // namespace rampart
