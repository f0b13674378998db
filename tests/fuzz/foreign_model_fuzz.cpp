#include <cmath>

#include "fuzz.hpp"
#include "rampart/base/random.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/model/engine.hpp"
#include "rampart/model_exchange/lightgbm_text.hpp"
#include "rampart/model_exchange/onnx.hpp"
#include "rampart/model_exchange/xgboost_json.hpp"
#include "unit/model_exchange/golden_models.hpp"
#include "unit/model_exchange/onnx_model.hpp"
#include "unit/model_exchange/ubjson_writer.hpp"

/// Models of other libraries: files from outside, read into what decides.
namespace rampart::fuzz {
namespace {

/// Checks that the engines agree with the trees, that a model written for LightGBM reads back with
/// the same scores, and that one written for ONNX has them.
bool scores(const base::Result<model_exchange::ForeignModel>& foreign,
            const dataset::FeatureSchema& schema, size_t seed) {
    if (!foreign) return refused(foreign.error());
    const auto& ensemble = foreign->ensemble;
    FUZZ_LAW(model::validate(ensemble, schema).has_value(), "accepted, but not valid");
    const auto written = model_exchange::write_lightgbm(ensemble, schema);
    if (!written) return refused(written.error());
    const auto again = model_exchange::read_lightgbm(*written, schema);
    FUZZ_LAW(again.has_value(), "refuses what it wrote: {}", again.error().message);
    const auto for_onnx = model_exchange::write_onnx(ensemble, schema);
    FUZZ_LAW(for_onnx.has_value(), "no ONNX: {}", for_onnx.error().message);
    const model_exchange::OnnxModel onnx(*for_onnx);
    const model::Engine one(ensemble);
    const model::BatchEngine many(ensemble);
    base::Random random(seed);
    for (size_t r = 0; r < 4; ++r) {
        std::vector<float> row;
        for (const auto& feature : schema.features()) {
            const auto codes = feature.categories.size();
            const auto value = codes > 0 ? static_cast<float>(random.below(codes))
                                         : static_cast<float>(random.normal() * 3);
            row.push_back(random.bernoulli(0.2) ? std::nanf("") : value);
        }
        const double walked = ensemble.predict_raw(row);
        double batch = 0;
        many.predict_raw(model::TableView::row_major(row, row.size()), std::span(&batch, 1));
        FUZZ_LAW(one.predict_raw(row) == walked && batch == walked, "{}, {}, {}", walked,
                 one.predict_raw(row), batch);
        FUZZ_LAW(again->ensemble.predict_raw(row) == walked, "written, it scores otherwise");
        FUZZ_LAW(onnx.raw_score(row) == walked, "in ONNX {}, {}", onnx.raw_score(row), walked);
    }
    return true;
}

bool lightgbm(std::string_view text) {
    const auto schema = model_exchange::golden_schema();
    return scores(model_exchange::read_lightgbm(text, schema), schema, text.size());
}

bool xgboost(std::string_view text) {
    const auto schema = model_exchange::golden_schema();
    return scores(model_exchange::read_xgboost(text, schema), schema, text.size());
}

using Seeds = std::vector<std::string>;

/// The golden models are longer than inputs can be: use their first tree or two.
Seeds lightgbm_seeds() {
    const auto text = model_exchange::golden("lightgbm.txt");
    return {text.substr(0, text.find("Tree=2")) + "end of trees\n\npandas_categorical:[]\n",
            "tree\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=0\n"
            "objective=regression\nfeature_names=region\n\nTree=0\nnum_leaves=2\nnum_cat=1\n"
            "split_feature=0\nthreshold=0\ndecision_type=1\nleft_child=-1\nright_child=-2\n"
            "leaf_value=1 2\ncat_boundaries=0 1\ncat_threshold=2\n\nend of trees\n"
            "\npandas_categorical:[[\"3\", 7]]\n"};
}

Seeds xgboost_seeds() {
    return {R"({"learner": {"feature_names": ["income", "region"], "gradient_booster": {"model":
        {"trees": [{"categories": [1, 3], "categories_nodes": [2], "categories_segments": [0],
        "categories_sizes": [2], "default_left": [1, 0, 0, 0, 0],
        "left_children": [1, -1, 3, -1, -1], "right_children": [2, -1, 4, -1, -1],
        "loss_changes": [5, 0, 2, 0, 0], "split_conditions": [0.5, 1, NaN, 2, -3],
        "split_indices": [0, 0, 1, 0, 0], "split_type": [0, 0, 1, 0, 0],
        "sum_hessian": [9, 4, 5, 2, 3], "tree_param": {"size_leaf_vector": "1"}}]},
        "name": "gbtree"}, "learner_model_param": {"base_score": "[4E-1]", "num_class": "0",
        "num_feature": "2", "num_target": "1"}, "objective": {"name": "binary:logistic"}}})"};
}

/// The same in binary, and with a null instead of the number that JSON lacks.
Seeds ubjson_seeds() {
    auto text = xgboost_seeds().front();
    text.replace(text.find("NaN"), 3, "null");
    return {model_exchange::as_ubjson(boost::json::parse(text))};
}

}  // namespace

std::vector<Target> targets() {
    return {{"lightgbm", lightgbm, lightgbm_seeds, 1 << 20},
            {"xgboost", xgboost, xgboost_seeds, 1 << 20},
            {"xgboost_ubjson", xgboost, ubjson_seeds, 1 << 20}};
}

}  // namespace rampart::fuzz
