#pragma once

#include <gtest/gtest.h>

#include "rampart/base/file.hpp"
#include "rampart/config/table.hpp"
#include "rampart/notices/notice.hpp"
#include "support/places.hpp"

/// Decisions, policies and a lender that the tests of this room share.
namespace rampart::notices::testing {

inline std::filesystem::path letters() {
    return std::filesystem::path(test_support::source_dir()) / "ops/config/letters";
}

/// The example that is bundled: of the product "simulated".
inline Lender bundled_lender() {
    auto root = config::parse_file(letters() / "notices.toml").value();
    auto lender = read_lender(root, letters() / "simulated");
    EXPECT_TRUE(root.finish());
    return lender.value();
}

/// The features of the product "simulated".
inline dataset::FeatureSchema sample_schema() {
    std::vector<dataset::FeatureSpec> features;
    for (const auto* name :
         {"score", "annual_income", "debt_to_income", "card_utilisation", "late_payments_24m",
          "inquiries_6m", "months_on_file", "loan_amount", "housing", "purpose"})
        features.push_back({name, dataset::FeatureKind::kNumeric, {}});
    return dataset::FeatureSchema::create(std::move(features)).value();
}

/// A learned policy whose reference row has 100 everywhere.
inline model::Policy learned_policy() {
    model::LearnedLink link;
    model::Tree tree;
    tree.nodes.resize(3);
    tree.nodes[0] = {.feature = 0, .threshold = 0, .left = 1, .right = 2};
    tree.nodes[2].value = 1;
    link.ensemble.trees = {tree};
    model::PolicyState state;
    state.reasons = {model::ReasonMethod::kShapley, std::vector<float>(10, 100)};
    return model::Policy::create(sample_schema(), {link}, {}, {}, std::move(state)).value();
}

/// A declared rule over the feature "score".
inline model::Policy rule(std::vector<std::pair<double, double>> points = {{400, 0}, {800, 1}}) {
    const model::BootstrapLink link{"score", std::move(points), 0.5};
    return model::Policy::create(sample_schema(), {link}, {}, {}).value();
}

/// A sure decline, of an applicant with 50 in all features; `reasons`: what its explanation cites,
/// as "feature.NAME".
inline domain::Decision decline(std::vector<std::string> reasons) {
    domain::Decision decision;
    decision.id = domain::DecisionId("d-1");
    decision.application = {domain::ApplicationId("a-1"),
                            domain::PersonId("p-1"),
                            base::parse_iso8601("2026-03-02T10:00:00Z").value(),
                            {}};
    const auto schema = sample_schema();
    for (const auto& feature : schema.features())
        decision.application.features.push_back({feature.name, 50.0});
    decision.decided_at = base::parse_iso8601("2026-03-02T10:00:01Z").value();
    decision.policy = domain::PolicyId("policy-1");
    decision.certified = true;
    decision.draw = 0.7;
    decision.action = domain::Action::kDecline;
    decision.reasons = std::move(reasons);
    return decision;
}

/// The same with probabilities of approval, without and with exploration.
inline domain::Decision drawn(domain::Decision decision, double p_exploit, double p_approve,
                              double draw) {
    decision.p_exploit = p_exploit;
    decision.p_approve = p_approve;
    decision.draw = draw;
    decision.propensity = domain::probability_of(decision.action, p_approve, decision.p_refer);
    return decision;
}

inline domain::Override overridden(domain::Action action,
                                   const std::string& reason = "income_not_proven") {
    return {domain::DecisionId("d-1"), 1,      action,
            "underwriter-17",          reason, base::parse_iso8601("2026-03-05").value()};
}

inline base::TimePoint now() { return base::parse_iso8601("2026-03-06T09:00:00Z").value(); }

/// What an explanation of the decision cites, against a row with 100 everywhere.
inline std::vector<Cited> cited_of(const domain::Decision& decision) {
    std::vector<Cited> cited;
    const auto& features = decision.application.features;
    for (const auto& reason : decision.reasons) {
        if (!reason.starts_with("feature.")) continue;
        const auto name = reason.substr(8);
        const auto it = std::find_if(features.begin(), features.end(),
                                     [&](const auto& feature) { return feature.name == name; });
        const double* value = it == features.end() ? nullptr : std::get_if<double>(&it->value);
        cited.push_back(
            {name, direction_of({name, dataset::FeatureKind::kNumeric, {}}, decision.application,
                                value == nullptr ? 0 : static_cast<float>(*value), 100)});
    }
    return cited;
}

inline base::Result<Notice> notice(const domain::Decision& decision, const model::Policy& policy,
                                   const std::optional<domain::Override>& taken = {},
                                   std::string_view language = {},
                                   const Lender& lender = bundled_lender()) {
    const auto cited = cited_of(decision);
    return make_notice({decision, taken, policy, cited, now(), language}, lender);
}

}  // namespace rampart::notices::testing
