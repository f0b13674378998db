#pragma once

#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/domain/erasure.hpp"
#include "rampart/domain/labeled_example.hpp"
#include "rampart/domain/outcome.hpp"
#include "rampart/domain/override.hpp"

/// Events as protobuf bytes (schemas/rampart/v1). Encoding is deterministic. Decoding validates the
/// record (domain::validate) and never crashes: data_loss for bytes that are not such a message,
/// the validator's error for invalid content.
namespace rampart::wire {

inline constexpr std::string_view kApplicationSchema = "rampart.v1.Application/1";
inline constexpr std::string_view kDecisionSchema = "rampart.v1.Decision/1";
/// Schema of a decision in an envelope (privacy/person_keys.hpp), sealed under its record's key.
inline constexpr std::string_view kSealedDecisionSchema = "rampart.v1.Decision/1+sealed/1";
inline constexpr std::string_view kOutcomeSchema = "rampart.v1.Outcome/1";
inline constexpr std::string_view kOverrideSchema = "rampart.v1.Override/1";
inline constexpr std::string_view kErasureSchema = "rampart.v1.Erasure/1";
inline constexpr std::string_view kLabeledExampleSchema = "rampart.v1.LabeledExample/1";

std::string encode(const domain::Application& application);
std::string encode(const domain::Decision& decision);
std::string encode(const domain::Outcome& outcome);
std::string encode(const domain::Override& taken);
std::string encode(const domain::Erasure& erasure);
std::string encode(const domain::LabeledExample& example);

base::Result<domain::Application> decode_application(std::string_view bytes);
base::Result<domain::Decision> decode_decision(std::string_view bytes);
base::Result<domain::Outcome> decode_outcome(std::string_view bytes);
base::Result<domain::Override> decode_override(std::string_view bytes);
base::Result<domain::Erasure> decode_erasure(std::string_view bytes);
base::Result<domain::LabeledExample> decode_labeled_example(std::string_view bytes);

}  // namespace rampart::wire
