#pragma once

#include <string>

#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"
#include "rampart/model/ensemble.hpp"

/// ONNX (Open Neural Network Exchange), the files of ONNX Runtime and others.
namespace rampart::model_exchange {

/// An ONNX file has at most so many nodes; a split by categories is one for each category of its
/// smaller side.
inline constexpr size_t kMaxOnnxNodes = 2'000'000;

/// Writes a model for ONNX: IR version 8, operators of ai.onnx 13 and ai.onnx.ml 3.
///
/// Input `features`: float32 [rows, schema.size()], in the schema's order; categories as codes
/// (positions in the schema's list), NaN for missing and for categories that the schema does not
/// list. Outputs, float32 [rows, 1]: `raw_score`, the ensemble's sum, and `probability`, its
/// sigmoid. The metadata `rampart.features` lists the features as JSON.
///
/// Inside, a row is compared and summed as doubles, so that each row takes the path that it takes
/// in the ensemble, and only the sum is rounded to float32. Who has doubles rounds them to the
/// nearest float32 first, as FeatureSchema::encode_number does.
///
/// Requires an ensemble that is valid for the schema. Fails with out_of_range "too_many_nodes".
base::Result<std::string> write_onnx(const model::Ensemble& ensemble,
                                     const dataset::FeatureSchema& schema);

}  // namespace rampart::model_exchange
