// `rampart score`, as a user runs it, on small tables made here.
#include "command_line.hpp"

namespace rampart::cli_tests {
namespace {

using testing::HasSubstr;

TEST_F(CommandLine, ScoresGoOutAndAgreeWithWhatEvaluateMeasures) {
    train();
    const auto ran = run("score --model m.rmp --data loans.csv --out scores.csv --keep id,repaid");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    EXPECT_THAT(ran.out, HasSubstr("1500 rows of loans.csv scored"));
    std::istringstream lines(read("scores.csv"));
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "line,id,repaid,score,p_approve");
    size_t rows = 0;
    double loss = 0;
    while (std::getline(lines, line)) {
        std::vector<std::string> cells;
        std::istringstream in(line);
        for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
        ASSERT_EQ(cells.size(), 5u) << line;
        EXPECT_EQ(cells[0], std::to_string(rows + 2));
        EXPECT_EQ(cells[1], std::to_string(1000 + rows));
        const double score = std::stod(cells[3]);
        loss -= std::log(cells[2] == "yes" ? score : 1 - score);
        ++rows;
    }
    EXPECT_EQ(rows, 1500u);
    const auto all = run("evaluate --model m.rmp --data loans.csv --split all --json");
    EXPECT_NEAR(loss / 1500, number(all.json(), "log_loss"), 1e-9);
}

TEST_F(CommandLine, AScoredTableNeedsNoLabelAndMayHaveOtherColumns) {
    train();
    write("new.csv", "branch,region,income\n7,north,51\n8,\"south, far\",\n");
    const auto ran = run("score --model m.rmp --data new.csv --out s.csv.gz --json");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("branch"));
    const auto json = ran.json();
    EXPECT_EQ(number(json, "rows"), 2);
    EXPECT_EQ(json.at("columns_not_read").as_array().at(0).as_string(), "branch");
    EXPECT_TRUE(read("s.csv.gz").starts_with("\x1f\x8b"));
}

TEST_F(CommandLine, AScoredTableThatIsBadLeavesNoFile) {
    train();
    write("new.csv", "region,income\nnorth,51\nnorth,much\n");
    for (const auto& [arguments, words] :
         std::vector<std::pair<std::string, std::vector<std::string>>>{
             {"--data new.csv", {"line 3", "income", "much"}},
             {"--data new.csv --keep id", {"'id'"}},
             {"--data new.csv --keep income,income", {"two columns 'income'"}},
             {"--data none.csv", {"none.csv"}}}) {
        const auto ran = run("score --model m.rmp --out scores.csv " + arguments);
        EXPECT_EQ(ran.exit_code, 2) << ran.err;
        for (const auto& word : words) EXPECT_THAT(ran.err, HasSubstr(word));
        EXPECT_FALSE(std::filesystem::exists(path("scores.csv")));
    }
}

TEST_F(CommandLine, ContributionsSumToTheScoreAndDeclinesHaveReasons) {
    train();
    const auto ran =
        run("score --model m.rmp --data loans.csv --out s.csv --draw-seed 1 --leaves "
            "--contributions --reasons");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    std::istringstream lines(read("s.csv"));
    std::string line;
    std::getline(lines, line);
    std::vector<std::string> names;
    std::istringstream header(line);
    for (std::string name; std::getline(header, name, ',');) names.push_back(name);
    ASSERT_EQ(names.back(), "reasons");
    size_t declines = 0, rows = 0;
    while (std::getline(lines, line)) {
        std::vector<std::string> cells;
        std::istringstream in(line + ",");
        for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
        ASSERT_EQ(cells.size(), names.size()) << line;
        double raw = 0, score = 0;
        bool declined = false;
        for (size_t i = 0; i < cells.size(); ++i) {
            if (names[i].starts_with("contribution_")) raw += std::stod(cells[i]);
            if (names[i] == "score") score = std::stod(cells[i]);
            if (names[i] == "action") declined = cells[i] == "decline";
        }
        EXPECT_NEAR(1 / (1 + std::exp(-raw)), score, 1e-9);
        EXPECT_EQ(cells.back().empty(), !declined) << line;
        declines += declined ? 1 : 0;
        ++rows;
    }
    EXPECT_EQ(rows, 1500u);
    EXPECT_GT(declines, 100u);
    EXPECT_LT(declines, 1400u);
    const auto misuse = run("score --model m.rmp --data loans.csv --out s.csv --reasons");
    EXPECT_EQ(misuse.exit_code, 2);
    EXPECT_THAT(misuse.err, HasSubstr("--draw-seed"));
}

TEST_F(CommandLine, ScoresReplaceNoInputAndNoFolder) {
    train();
    write("new.csv", "region,income\nnorth,51\n");
    std::filesystem::create_directory(path("folder"));
    std::filesystem::create_symlink("new.csv", path("link.csv"));
    for (const auto& [out, words] :
         std::vector<std::pair<std::string, std::string>>{{"new.csv", "is the same file"},
                                                          {"./link.csv", "is the same file"},
                                                          {"m.rmp", "is the same file"},
                                                          {"folder", "it is a folder"}}) {
        const auto model = read("m.rmp");
        const auto ran = run("score --model m.rmp --data new.csv --out " + out);
        EXPECT_EQ(ran.exit_code, 2) << ran.err;
        EXPECT_THAT(ran.err, HasSubstr(words));
        EXPECT_EQ(read("m.rmp"), model);
        EXPECT_EQ(read("new.csv"), "region,income\nnorth,51\n");
    }
}

}  // namespace
}  // namespace rampart::cli_tests
