#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/model/model_file.hpp"
#include "support/places.hpp"
#include "unit/model_exchange/golden_models.hpp"
#include "unit/model_exchange/onnx_model.hpp"

/// `rampart import` and `export`, as a user runs them, on files of LightGBM and XGBoost.
namespace rampart {
namespace {

using testing::HasSubstr;

class Exchange : public testing::Test {
  protected:
    void SetUp() override {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = std::filesystem::path(testing::TempDir()) /
                  fmt::format("rampart-exchange-{}-{}", test->name(), getpid());
        std::filesystem::create_directories(folder_);
        write_schema("1");
        for (const char* name : {"lightgbm.txt", "xgboost.json", "xgboost.ubj"})
            std::ofstream(folder_ / name) << model_exchange::golden(name);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    void write_schema(const std::string& favourable) const {
        dataset::TableSchema schema;
        schema.features = model_exchange::golden_schema();
        schema.label_column = "y";
        schema.favourable = favourable;
        std::ofstream(folder_ / "schema.toml") << dataset::write_table_schema(schema);
    }

    int run(const std::string& arguments) {
        const auto command = fmt::format("cd '{}' && '{}/rampart' {} > .out 2> .err",
                                         folder_.string(), test_support::bin_dir(), arguments);
        const int status = std::system(command.c_str());
        printed_.clear();
        for (const char* name : {".out", ".err"}) {
            std::ifstream file(folder_ / name);
            printed_.append(std::istreambuf_iterator<char>(file), {});
        }
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    int import(const std::string& from, const std::string& model, const std::string& more = "") {
        return run(fmt::format("import --from {} --model {} --schema schema.toml --out m.rmp {}",
                               from, model, more));
    }

    double score(const std::vector<float>& row) const {
        const auto loaded = model::load_model_file(folder_ / "m.rmp");
        return loaded->policy.evaluate(row, std::nullopt).score;
    }

    std::filesystem::path folder_;
    std::string printed_;
};

TEST_F(Exchange, AModelOfLightGbmBecomesAPolicyAndGoesBack) {
    ASSERT_EQ(import("lightgbm", "lightgbm.txt"), 0) << printed_;
    EXPECT_THAT(printed_, HasSubstr("6 trees of lightgbm, binary; label 1 is the favourable one"));
    for (const auto& row : model_exchange::golden_rows())
        EXPECT_EQ(score(row.row), model::sigmoid(row.lightgbm));
    ASSERT_EQ(run("export --to lightgbm --model m.rmp --out back.txt"), 0) << printed_;
    ASSERT_EQ(import("lightgbm", "back.txt"), 0) << printed_;
    for (const auto& row : model_exchange::golden_rows())
        EXPECT_EQ(score(row.row), model::sigmoid(row.lightgbm));
}

TEST_F(Exchange, AModelOfTheUnfavourableLabelIsTurnedAround) {
    write_schema("0");
    ASSERT_EQ(import("xgboost", "xgboost.json"), 0) << printed_;
    EXPECT_THAT(printed_, HasSubstr("label 1 is the unfavourable one"));
    for (const auto& row : model_exchange::golden_rows())
        EXPECT_NEAR(score(row.row), model::sigmoid(-row.xgboost), 1e-6);
    ASSERT_EQ(import("xgboost", "xgboost.json", "--positive favourable"), 0) << printed_;
    EXPECT_NEAR(score(model_exchange::golden_rows()[0].row),
                model::sigmoid(model_exchange::golden_rows()[0].xgboost), 1e-6);
    // a label that is not a number does not say which value is label 1
    write_schema("repaid");
    EXPECT_EQ(import("xgboost", "xgboost.json"), 2);
    EXPECT_THAT(printed_, HasSubstr("--positive"));
}

TEST_F(Exchange, TheDefaultFormatOfXgboostIsSeenByItsContent) {
    std::ofstream(folder_ / "saved.model") << model_exchange::golden("xgboost.ubj");
    for (const char* name : {"xgboost.ubj", "saved.model"}) {
        ASSERT_EQ(import("xgboost", name), 0) << printed_;
        for (const auto& row : model_exchange::golden_rows())
            EXPECT_NEAR(score(row.row), model::sigmoid(row.xgboost), 1e-6);
    }
    std::ofstream(folder_ / "cut.ubj") << model_exchange::golden("xgboost.ubj").substr(0, 5000);
    EXPECT_EQ(import("xgboost", "cut.ubj"), 2);
    EXPECT_THAT(printed_, HasSubstr("cut.ubj: Universal Binary JSON, byte "));
}

TEST_F(Exchange, AModelGoesOutForOnnx) {
    ASSERT_EQ(import("xgboost", "xgboost.ubj"), 0) << printed_;
    ASSERT_EQ(run("export --to onnx --model m.rmp --out m.onnx"), 0) << printed_;
    EXPECT_THAT(printed_, HasSubstr("6 trees of"));
    EXPECT_THAT(printed_, HasSubstr("NaN for missing and for categories not listed"));
    std::stringstream bytes;
    bytes << std::ifstream(folder_ / "m.onnx").rdbuf();
    const auto file = bytes.str();
    const model_exchange::OnnxModel onnx(file);
    for (const auto& row : model_exchange::golden_rows())
        EXPECT_NEAR(onnx.raw_score(row.row), row.xgboost, 1e-6);
    EXPECT_EQ(run("export --to pmml --model m.rmp --out m.xml"), 2);
    EXPECT_THAT(printed_, HasSubstr("onnx"));
}

TEST_F(Exchange, WhatIsNoModelIsRefusedByName) {
    EXPECT_EQ(import("xgboost", "lightgbm.txt"), 2);
    EXPECT_THAT(printed_, HasSubstr("lightgbm.txt: not a JSON object with a 'learner'"));
    EXPECT_EQ(import("lightgbm", "gone.txt"), 2);
    EXPECT_THAT(printed_, HasSubstr("gone.txt"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "m.rmp"));
}

}  // namespace
}  // namespace rampart
