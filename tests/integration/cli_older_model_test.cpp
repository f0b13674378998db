#include <boost/json.hpp>

#include "command_line.hpp"
#include "rampart/model/model_file.hpp"
#include "unit/model/model_bytes.hpp"

/// A model as a release wrote it before its state had fields: every command answers as for the same
/// model in today's form.
namespace rampart::cli_tests {
namespace {

class OlderModel : public CommandLine {
  protected:
    /// Writes the model again with its state among the provenance.
    void write_older(const std::string& from, const std::string& to) const {
        const auto loaded = model::load_model_file(path(from)).value();
        const auto& policy = loaded.policy;
        ASSERT_FALSE(policy.state().empty());
        const auto bare = model::encode_model_file(
            model::Policy::create(policy.schema(), policy.links(), policy.group_names(), {})
                .value());
        std::string payload = model::payload_of(bare);
        for (const auto& [key, value] : policy.printed_facts())
            payload += model::field(4, model::field(1, key) + model::field(2, value));
        write(to, model::with_payload(payload, model::version_of(bare)));
    }

    /// What the command prints, without the model's name and id.
    std::string answer(const std::string& before, const std::string& model,
                       const std::string& after) const {
        const auto ran = run(fmt::format("{} {} {} --json", before, model, after));
        EXPECT_EQ(ran.exit_code, 0) << before << ran.err;
        std::string out = ran.out;
        const auto id = model::load_model_file(path(model)).value().id.value();
        for (const auto& part : {id, model})
            for (size_t at = out.find(part); at != std::string::npos; at = out.find(part))
                out.replace(at, part.size(), "M");
        return out;
    }

    void expect_the_same(const std::string& before, const std::string& after = "") const {
        EXPECT_EQ(answer(before, "old.rmp", after), answer(before, "new.rmp", after)) << before;
    }

    std::map<std::string, std::string> facts(const std::string& model) const {
        return model::load_model_file(path(model)).value().policy.printed_facts();
    }

    void train_both(const std::string& options) {
        train(options);
        std::filesystem::rename(path("m.rmp"), path("new.rmp"));
        write_older("new.rmp", "old.rmp");
        ASSERT_NE(read("old.rmp"), read("new.rmp"));
    }
};

TEST_F(OlderModel, OfFairGbmIsShownAndResumedAsBefore) {
    train_both("--learner fairgbm --constraint fnr --tolerance 0.2 --allow-infeasible");
    expect_the_same("inspect model");
    expect_the_same("evaluate --data loans.csv --model");
    expect_the_same("explain --data loans.csv --row 3 --model");
    expect_the_same("card --data loans.csv --out c.html --model");
    for (const std::string name : {"old", "new"}) {
        const auto made =
            run(fmt::format("postprocess --data loans.csv --model {0}.rmp --out {0}-p.rmp", name));
        ASSERT_EQ(made.exit_code, 0) << made.err;
        const auto ran =
            run(fmt::format("train --data loans.csv --schema schema.toml --seed 7 "
                            "--learner fairgbm --constraint fnr --tolerance 0.2 "
                            "--allow-infeasible --trees 60 --leaves 8 "
                            "--resume {0}.rmp --out {0}60.rmp",
                            name));
        ASSERT_EQ(ran.exit_code, 0) << ran.err;
    }
    EXPECT_EQ(read("old60.rmp"), read("new60.rmp"));
    // post-processed models keep the state, and differ in the model that they name as their origin
    auto old = facts("old-p.rmp"), today = facts("new-p.rmp");
    EXPECT_NE(old.at("postprocessed_from"), today.at("postprocessed_from"));
    old.erase("postprocessed_from"), today.erase("postprocessed_from");
    EXPECT_EQ(old, today);
    EXPECT_TRUE(old.contains("fairgbm.multipliers"));
}

TEST_F(OlderModel, OfBudroKeepsItsMetric) {
    train_both("--learner budro --epsilon 0.1");
    expect_the_same("inspect model");
    expect_the_same("audit-individual --data loans.csv --epsilon 0.01 --model");
    EXPECT_THAT(answer("audit-individual --data loans.csv --epsilon 0.01 --model", "old.rmp", ""),
                testing::HasSubstr("the model's own"));
}

TEST_F(OlderModel, OfFairRegressionKeepsItsLoss) {
    train_both("--learner fair-regression --loss huber --loss-parameter 0.25 --oracle linear");
    expect_the_same("inspect model");
    expect_the_same("evaluate --data loans.csv --model");
    expect_the_same("card --data loans.csv --out c.html --model");
    EXPECT_THAT(answer("evaluate --data loans.csv --model", "old.rmp", ""),
                testing::HasSubstr("huber 0.25"));
}

TEST_F(OlderModel, WithStateInBothPlacesIsRefused) {
    train("--learner fairgbm --constraint none");
    const auto bytes = read("m.rmp");
    const auto entry =
        model::field(4, model::field(1, "zz") + model::field(2, "text")) +
        model::field(4, model::field(1, "zz_regression_loss") + model::field(2, "squared"));
    write("text.rmp", model::with_payload(model::payload_of(bytes) + entry, 5));
    EXPECT_EQ(run("inspect model text.rmp").exit_code, 0);
    const auto both = model::field(4, model::field(1, "table_schema") + model::field(2, "other"));
    write("both.rmp", model::with_payload(model::payload_of(bytes) + both, 5));
    const auto ran = run("evaluate --data loans.csv --model both.rmp");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, testing::HasSubstr("provenance 'table_schema'"));
}

}  // namespace
}  // namespace rampart::cli_tests
