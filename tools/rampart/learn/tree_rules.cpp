#include "learn/tree_rules.hpp"

#include <fmt/ranges.h>

namespace rampart::cli {
namespace {

base::Result<size_t> find(const dataset::FeatureSchema& schema, std::string_view name,
                          std::string_view reason, std::string_view option) {
    if (const auto feature = schema.find(name)) return *feature;
    std::vector<std::string_view> names;
    for (const auto& spec : schema.features()) names.push_back(spec.name);
    return base::invalid_argument(std::string(reason), "{}: there is no feature '{}'; there are {}",
                                  option, name, fmt::join(names, ", "));
}

base::Result<int> direction_of(std::string_view word, std::string_view rule) {
    if (word == "increasing") return 1;
    if (word == "decreasing") return -1;
    return base::invalid_argument("bad_monotone",
                                  "--monotone {}: '{}' is no direction; write increasing or "
                                  "decreasing",
                                  rule, word);
}

}  // namespace

base::Status apply_rules(const TreeRules& rules, const dataset::FeatureSchema& schema,
                         gbdt::LearnerParams& params) {
    params.monotone.assign(rules.monotone.empty() ? 0 : schema.size(), 0);
    for (const std::string_view rule : rules.monotone) {
        const size_t equals = rule.rfind('=');
        if (equals == std::string_view::npos) {
            return base::invalid_argument("bad_monotone",
                                          "--monotone {}: write FEATURE=increasing or "
                                          "FEATURE=decreasing",
                                          rule);
        }
        RAMPART_TRY(const size_t feature,
                    find(schema, rule.substr(0, equals), "bad_monotone", "--monotone"));
        RAMPART_TRY(params.monotone[feature], direction_of(rule.substr(equals + 1), rule));
    }
    params.interactions.clear();
    for (std::string_view rule : rules.interactions) {
        auto& set = params.interactions.emplace_back();
        for (bool more = true; more;) {
            const size_t plus = rule.find('+');
            more = plus != std::string_view::npos;
            RAMPART_TRY(const size_t feature,
                        find(schema, rule.substr(0, plus), "bad_interactions", "--interactions"));
            set.push_back(static_cast<uint32_t>(feature));
            if (more) rule.remove_prefix(plus + 1);
        }
    }
    return base::ok();
}

}  // namespace rampart::cli
