#include "rampart/decision/chance_codes.hpp"

#include <algorithm>

#include "rampart/decision/reason_codes.hpp"

namespace rampart::decision {

std::vector<std::string> chance_codes(const model::PolicyOutput& output, double p_approve,
                                      double draw) {
    if (draw < output.exploit) return {std::string(kExplorationDeclined)};
    std::vector<std::string> codes;
    if (output.exploit > 0) codes.emplace_back(kRandomDraw);  // < 1, as the draw is not below it
    if (p_approve > output.exploit) codes.emplace_back(kExplorationNotDrawn);
    return codes;
}

bool names_features(std::span<const std::string> codes) {
    return std::any_of(codes.begin(), codes.end(), [](const auto& code) {
        return code == kScoreTooLow || code.starts_with(kFeatureReasonPrefix);
    });
}

}  // namespace rampart::decision
