// `rampart compare`, as a user runs it, on a small table made here.
#include "command_line.hpp"

namespace rampart::cli_tests {
namespace {

using testing::HasSubstr;

TEST_F(CommandLine, TwoModelsAreComparedByGroupAndScore) {
    train();
    ASSERT_EQ(run("train --data loans.csv --schema schema.toml --split 60/20/20 --seed 7 --trees 3 "
                  "--leaves 2 --out small.rmp")
                  .exit_code,
              0);
    const auto text = run("compare --first m.rmp --second small.rmp --data loans.csv");
    ASSERT_EQ(text.exit_code, 0) << text.err;
    for (const char* words : {"sex=a", "sex=b", "second only", "PSI", "income"})
        EXPECT_THAT(text.out, HasSubstr(words));
    const auto ran =
        run("compare --first m.rmp --second small.rmp --data loans.csv --split test --json");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const auto json = ran.json();
    const auto& all = json.at("all").as_object();
    EXPECT_EQ(all.at("rows").to_number<int>(), 300);
    const auto share = [&](const char* name) { return all.at(name).to_number<double>(); };
    for (const auto& [model, alone] : {std::pair("m.rmp", "approved_by_first_only"),
                                       std::pair("small.rmp", "approved_by_second_only")}) {
        const auto measured =
            run(std::string("evaluate --data loans.csv --split test --json --model ") + model);
        EXPECT_NEAR(measured.json().at("approval_rate").to_number<double>(),
                    share("approved_by_both") + share(alone), 1e-9);
    }
    EXPECT_EQ(json.at("groups").as_array().size(), 2u);
    const auto itself = run("compare --first m.rmp --second m.rmp --data loans.csv --json");
    EXPECT_EQ(itself.json().at("score_psi").to_number<double>(), 0);
}

TEST_F(CommandLine, ModelsThatCannotBeComparedAreRefused) {
    train();
    ASSERT_EQ(run("train --data loans.csv --schema schema.toml --split 60/20/20 --seed 8 --trees 3 "
                  "--out other.rmp")
                  .exit_code,
              0);
    const auto parts =
        run("compare --first m.rmp --second other.rmp --data loans.csv --split test");
    EXPECT_EQ(parts.exit_code, 2);
    EXPECT_THAT(parts.err, HasSubstr("--split all"));
    EXPECT_EQ(run("compare --first m.rmp --second other.rmp --data loans.csv").exit_code, 0);
    EXPECT_EQ(run("compare --first m.rmp --second none.rmp --data loans.csv").exit_code, 2);
}

}  // namespace
}  // namespace rampart::cli_tests
