#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "golden_models.hpp"
#include "rampart/model_exchange/xgboost_json.hpp"
#include "ubjson_writer.hpp"

/// XGBoost's default format; what it has in common with JSON is tested there.
namespace rampart::model_exchange {
namespace {

using testing::HasSubstr;

std::string golden_as_json() {
    auto text = golden("xgboost.json");
    for (size_t at = text.find("NaN"); at != std::string::npos; at = text.find("NaN", at))
        text.replace(at, 3, "null");
    return text;
}

/// The golden model with a part of its JSON exchanged, in binary.
std::string golden_with(const std::string& from, const std::string& to) {
    return as_ubjson(boost::json::parse(with(golden_as_json(), from, to)));
}

base::Result<ForeignModel> read(const std::string& model) {
    return read_xgboost(model, golden_schema());
}

std::string reason(const std::string& model) {
    const auto found = read(model);
    return found ? "taken" : found.error().reason;
}

std::string message(const std::string& model) {
    const auto found = read(model);
    return found ? "taken" : found.error().message;
}

void expect_same(const model::Ensemble& a, const model::Ensemble& b) {
    EXPECT_EQ(a.base_score, b.base_score);
    ASSERT_EQ(a.trees.size(), b.trees.size());
    for (size_t t = 0; t < a.trees.size(); ++t) {
        ASSERT_EQ(a.trees[t].nodes.size(), b.trees[t].nodes.size());
        EXPECT_EQ(a.trees[t].category_sets, b.trees[t].category_sets);
        for (size_t n = 0; n < a.trees[t].nodes.size(); ++n) {
            const auto &x = a.trees[t].nodes[n], &y = b.trees[t].nodes[n];
            EXPECT_EQ(std::tie(x.feature, x.threshold, x.left, x.right, x.categories,
                               x.default_left, x.value),
                      std::tie(y.feature, y.threshold, y.left, y.right, y.categories,
                               y.default_left, y.value))
                << "tree " << t << " node " << n;
            // in binary they are floats, in text decimals of them
            EXPECT_FLOAT_EQ(static_cast<float>(x.cover), static_cast<float>(y.cover));
            EXPECT_FLOAT_EQ(static_cast<float>(x.gain), static_cast<float>(y.gain));
        }
    }
}

TEST(ReadXgboostUbjson, IsTheModelThatJsonIs) {
    const auto text = read(golden("xgboost.json")).value();
    for (const auto& file : {golden("xgboost.ubj"), golden_with("", "")}) {
        const auto model = read(file);
        ASSERT_TRUE(model) << model.error().message;
        EXPECT_EQ(model->objective, "binary:logistic");
        EXPECT_EQ(model->raw, RawScore::kLogOdds);
        expect_same(model->ensemble, text.ensemble);
        for (const auto& row : golden_rows())
            EXPECT_NEAR(model->ensemble.predict_raw(row.row), row.xgboost, 1e-6);
    }
}

TEST(ReadXgboostUbjson, WhatJsonRefusesIsRefusedByName) {
    EXPECT_THAT(message(golden_with("\"gbtree\"", "\"dart\"")), HasSubstr("the booster 'dart'"));
    EXPECT_THAT(message(golden_with("\"num_class\":\"0\"", "\"num_class\":\"3\"")),
                HasSubstr("several classes"));
    EXPECT_EQ(reason(golden_with("binary:logistic", "rank:pairwise")), "unsupported_model");
    EXPECT_EQ(reason(golden_with("\"income\"", "\"wealth\"")), "unknown_feature");
    EXPECT_EQ(reason(golden_with("\"learner\"", "\"other\"")), "not_an_xgboost_model");
}

/// A model of one value under a name that the reader of models does not look at.
std::string holding(const std::string& value) {
    return "{" + ubjson_name("learner") + "{}" + ubjson_name("more") + value + "}";
}
// what a well-formed file that holds no model ends in
constexpr auto kNoModel = "bad_model";

TEST(ReadXgboostUbjson, ReadsEveryNumberTextAndArrayOfTheFormat) {
    const auto one = ubjson_length(1);
    for (const auto& value : {std::string("T"),
                              std::string("F"),
                              std::string("Z"),
                              std::string("i\xff"),
                              std::string("U\xff"),
                              std::string("I\xff\x7f"),
                              std::string("l\x7f\xff\xff\xff"),
                              "L" + big_endian(~0ull, 8),
                              "d" + ubjson_float(1.5),
                              "D" + big_endian(1, 8),
                              std::string("[]"),
                              std::string("[U\1T[]]"),
                              "[#" + one + "Z",
                              "[$U#" + one + "\x80",
                              "[$i#" + one + "\x80",
                              "[$I#" + one + "\x80\x80",
                              "[$l#" + one + "\1\2\3\4",
                              "[$d#" + one + "\1\2\3\4",
                              "[$L#" + one + big_endian(1, 8),
                              "[$D#" + one + big_endian(1, 8),
                              std::string("SU\2ab"),
                              std::string("Si\2ab"),
                              "SI" + big_endian(2, 2) + "ab",
                              "Sl" + big_endian(2, 4) + "ab",
                              std::string("{i\1a{}}")})
        EXPECT_EQ(reason(holding(value)), kNoModel) << value;
}

TEST(ReadXgboostUbjson, NumbersAreBigEndianAndSigned) {
    // num_feature as it is, but the children as numbers of each width
    const auto model = [](const std::string& left, const std::string& right) {
        auto json = boost::json::parse(golden_as_json());
        auto& booster = json.as_object()["learner"].as_object()["gradient_booster"].as_object();
        auto& trees = booster["model"].as_object()["trees"].as_array();
        trees.resize(1);
        auto& tree = trees[0].as_object();
        for (const char* name :
             {"split_indices", "default_left", "loss_changes", "sum_hessian", "split_type"})
            tree[name] = boost::json::array{0, 0, 0};
        tree["split_indices"] = boost::json::array{0, 0, 0};
        tree["split_conditions"] = boost::json::array{0.5, 1, 2};
        tree["left_children"] = "left";
        tree["right_children"] = "right";
        tree["categories_nodes"] = tree["categories_segments"] = tree["categories_sizes"] =
            boost::json::array{};
        const auto file = as_ubjson(json);
        return with(with(file, "S" + ubjson_name("left"), left), "S" + ubjson_name("right"), right);
    };
    const auto three = ubjson_length(3);
    const auto list = [&](char type, uint64_t first) {
        const std::string kTypes = "iIlL";
        const size_t size = size_t{1} << kTypes.find(type);
        return std::string("[$") + type + "#" + three + big_endian(first, size) +
               big_endian(~0ull, size) + big_endian(~0ull, size);
    };
    for (const char type : std::string("iIlL")) {
        const auto found = read(model(list(type, 1), list(type, 2)));
        ASSERT_TRUE(found) << type << found.error().message;
        const auto& nodes = found->ensemble.trees.at(0).nodes;
        ASSERT_EQ(nodes.size(), 3u) << type;
        EXPECT_EQ(nodes[1].value, 1) << type;
        EXPECT_EQ(nodes[2].value, 2) << type;
    }
    // 0x80 is no child: -128 as a signed byte
    EXPECT_EQ(reason(model(list('i', 0x80), list('i', 2))), "bad_model");
}

TEST(ReadXgboostUbjson, EveryCutOfAFileIsRefusedWithThePlace) {
    const auto file = golden("xgboost.ubj");
    ASSERT_GT(file.size(), 8000u);
    for (size_t size = 2; size < file.size(); size += size < 400 ? 1 : 37) {
        const auto found = read(file.substr(0, size));
        ASSERT_FALSE(found) << size;
        ASSERT_EQ(found.error().reason, "bad_ubjson") << size;
        ASSERT_THAT(found.error().message, HasSubstr("byte "));
        ASSERT_THAT(found.error().message, HasSubstr("save the model as .json"));
    }
    EXPECT_THAT(message(file + "}"), HasSubstr("byte 8384: expected the end of the file"));
}

TEST(ReadXgboostUbjson, SaysWhatWasExpectedWhere) {
    EXPECT_THAT(message("{L"), HasSubstr("expected the 8 bytes of a number 'L' at byte 2"));
    EXPECT_THAT(message(holding("H")), HasSubstr("byte 32: expected a value, one of {"));
    EXPECT_THAT(message(holding("H")), HasSubstr("found 'H'"));
    EXPECT_THAT(message(holding("\x01")), HasSubstr("found 0x01"));
    EXPECT_THAT(message(holding("[$Z#" + ubjson_length(1 << 30))),
                HasSubstr("byte 34: expected the type of an array's numbers"));
    EXPECT_THAT(message(holding("[$d" + ubjson_length(1))), HasSubstr("expected the count"));
    EXPECT_THAT(message(holding("SU\1\xff")), HasSubstr("a text in UTF-8"));
    EXPECT_THAT(message(holding("SX")), HasSubstr("the length of a text"));
    EXPECT_THAT(message("{" + ubjson_name("a") + "Z" + ubjson_name("a") + "Z}"),
                HasSubstr("a name that the object does not have yet"));
}

TEST(ReadXgboostUbjson, LengthsAreThoseOfTheFile) {
    for (const uint64_t count : {uint64_t{3}, uint64_t{1} << 40, uint64_t{1} << 62, ~uint64_t{0}}) {
        const auto declared = "L" + big_endian(count, 8);
        for (const auto& value : {"[$d#" + declared + "\1\2\3\4", "[#" + declared, "S" + declared})
            EXPECT_EQ(reason("{" + ubjson_name("a") + value), "bad_ubjson") << count;
    }
    EXPECT_THAT(message(holding("[#L" + big_endian(~uint64_t{0}, 8))),
                HasSubstr("the count of an array is -1"));
}

TEST(ReadXgboostUbjson, DepthIsBounded) {
    const auto nested = [](size_t depth) {
        return holding(std::string(depth, '[') + std::string(depth, ']'));
    };
    EXPECT_EQ(reason(nested(31)), kNoModel);
    EXPECT_THAT(message(nested(32)), HasSubstr("byte 63: expected a value of at most 32 levels"));
    EXPECT_EQ(reason(nested(1'000'000)), "bad_ubjson");
    std::string objects;
    for (int i = 0; i < 100'000; ++i) objects += "{i\1a";
    EXPECT_EQ(reason(objects), "bad_ubjson");
}

}  // namespace
}  // namespace rampart::model_exchange
