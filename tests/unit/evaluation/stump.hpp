#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "rampart/dataset/dataset.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/model/policy.hpp"

/// A table of eight rows and a tree with one split, small enough to work out all figures by hand.
namespace rampart::evaluation {

inline constexpr const char* kStumpSchema =
    "label = \"repaid\"\nfavourable = \"1\"\nprotected = [\"sex\"]\n"
    "[[feature]]\nname = \"x\"\nkind = \"numeric\"\n";

/// As the table, with the columns x, sex, repaid.
inline constexpr const char* kStumpTable =
    "x,sex,repaid\n-4,a,0\n-3,b,0\n-2,a,0\n-1,b,1\n1,a,1\n2,b,1\n3,a,0\n4,b,1\n";

inline dataset::FeatureSchema stump_features() {
    return dataset::FeatureSchema::create({{"x", dataset::FeatureKind::kNumeric, {}}}).value();
}

inline dataset::Dataset stump_data() {
    dataset::Dataset data;
    data.schema = stump_features();
    data.columns = {{-4, -3, -2, -1, 1, 2, 3, 4}};
    data.label = {0, 0, 0, 1, 1, 1, 0, 1};
    data.group = {0, 1, 0, 1, 0, 1, 0, 1};
    data.group_names = {"sex=a", "sex=b"};
    return data;
}

/// P(favourable) is 1/4 for x <= 0 and 3/4 for the others.
inline model::LearnedLink stump_link() {
    model::Tree tree;
    tree.nodes.resize(3);
    tree.nodes[0] = {.feature = 0, .threshold = 0, .left = 1, .right = 2, .cover = 8, .gain = 1};
    tree.nodes[1] = {.value = -std::log(3.0), .cover = 4};
    tree.nodes[2] = {.value = std::log(3.0), .cover = 4};
    model::LearnedLink link;
    link.ensemble.trees.push_back(tree);
    return link;
}

/// Approves the rows with x > 0.
inline model::Policy stump_policy(model::PolicyState state = {}) {
    return model::Policy::create(stump_features(), {stump_link()}, {}, {}, std::move(state))
        .value();
}

/// A folder with the table, that goes away with it.
class StumpFolder {
  public:
    StumpFolder()
        : folder_(std::filesystem::path(testing::TempDir()) /
                  ("evaluation" + base::to_hex(base::random_bytes(8)))) {
        std::filesystem::create_directories(folder_);
        std::ofstream(folder_ / "loans.csv") << kStumpTable;
        std::ofstream(folder_ / "schema.toml") << kStumpSchema;
    }
    ~StumpFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    StumpFolder(const StumpFolder&) = delete;
    StumpFolder& operator=(const StumpFolder&) = delete;
    std::string file(const char* name) const { return folder_ / name; }

  private:
    std::filesystem::path folder_;
};

}  // namespace rampart::evaluation
