#include "rampart/budro/consistency.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/reasons.hpp"
#include "rampart/budro/reasons.hpp"

namespace rampart::budro {
namespace {

using Copies = std::vector<std::vector<Setting>>;

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

base::Error bad(std::string_view text, std::string_view why) {
    return base::make_error(Reason::kBadCounterfactual,
                            "'{}': {}; write FEATURE=VALUE,VALUE or FEATURE*FEATURE", text, why);
}

/// "relationship=Husband,Wife" or "relationship".
base::Result<Copies> copies_of(std::string_view text, const dataset::FeatureSchema& schema) {
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    const auto feature = schema.find(name);
    if (!feature)
        return base::make_error(Reason::kUnknownFeature,
                                "'{}' is no feature: protected columns that are no features cannot "
                                "change what a model says",
                                name);
    const auto& spec = schema.features()[*feature];
    Copies copies;
    if (equals == std::string_view::npos) {
        if (spec.kind != dataset::FeatureKind::kCategorical)
            return bad(text, "a numeric feature needs its values");
        for (size_t code = 0; code < spec.categories.size(); ++code)
            copies.push_back({{*feature, static_cast<float>(code)}});
        return copies;
    }
    for (const auto value : parts_of(text.substr(equals + 1), ',')) {
        RAMPART_TRY(const float encoded, schema.encode_text(*feature, value));
        if (std::isnan(encoded) && !value.empty())
            return base::make_error(Reason::kUnknownCategory, "'{}' is no category of '{}'", value,
                                    name);
        copies.push_back({{*feature, encoded}});
    }
    return copies;
}

}  // namespace

base::Result<Counterfactual> parse_counterfactual(std::string_view text,
                                                  const dataset::FeatureSchema& schema) {
    Counterfactual out{std::string(text), {{}}};
    for (const auto part : parts_of(text, '*')) {
        RAMPART_TRY(const auto choices, copies_of(part, schema));
        if (choices[0][0].feature < schema.size() && !out.copies[0].empty() &&
            std::any_of(out.copies[0].begin(), out.copies[0].end(),
                        [&](const Setting& s) { return s.feature == choices[0][0].feature; }))
            return bad(text, "a feature stands in it twice");
        if (out.copies.size() * choices.size() > Counterfactual::kMaxCopies)
            return bad(text, fmt::format("more than {} copies", Counterfactual::kMaxCopies));
        Copies product;
        for (const auto& copy : out.copies)
            for (const auto& choice : choices) {
                product.push_back(copy);
                product.back().insert(product.back().end(), choice.begin(), choice.end());
            }
        out.copies = std::move(product);
    }
    if (out.copies.size() < 2) return bad(text, "one copy alone");
    return out;
}

base::Result<Consistency> consistency(const dataset::Dataset& data,
                                      const Counterfactual& counterfactual,
                                      const Approval& approval) {
    const auto& copies = counterfactual.copies;
    if (copies.size() < 2 || copies.size() > Counterfactual::kMaxCopies)
        return base::make_error(Reason::kBadCounterfactual,
                                "'{}' has {} copies; allowed are 2 to {}", counterfactual.name,
                                copies.size(), Counterfactual::kMaxCopies);
    for (const auto& copy : copies)
        for (const auto& setting : copy)
            if (setting.feature >= data.schema.size())
                return base::make_error(Reason::kBadCounterfactual, "'{}' sets feature {} of {}",
                                        counterfactual.name, setting.feature, data.schema.size());
    if (data.rows() == 0)
        return base::make_error(base::Reason::kNoRows, "there are no rows to copy");
    RAMPART_RETURN_IF_ERROR(dataset::check_columns(data));
    Consistency out{counterfactual.name, copies.size(), 1, {}};
    double alike = 0, total = 0;
    std::vector<float> row(data.schema.size()), changed;
    for (size_t i = 0; i < data.rows(); ++i) {
        data.copy_row(i, row);
        Consistency::Row seen{static_cast<uint32_t>(i), 0, 0, 0, 0};
        for (size_t c = 0; c < copies.size(); ++c) {
            changed = row;
            for (const auto& setting : copies[c]) changed[setting.feature] = setting.value;
            const double approve = approval(changed, i);
            if (!(approve >= 0 && approve <= 1))
                return base::make_error(Reason::kBadApproval,
                                        "copy {} of row {} is approved with probability {}", c, i,
                                        approve);
            if (c == 0 || approve > seen.approve_most) seen.most = c, seen.approve_most = approve;
            if (c == 0 || approve < seen.approve_least)
                seen.least = c, seen.approve_least = approve;
        }
        const auto w = static_cast<double>(data.weight_of(i));
        alike += w * (1 - (seen.approve_most - seen.approve_least));
        total += w;
        if (seen.approve_most > seen.approve_least) out.rows.push_back(seen);
        if (out.rows.size() >= 4096 || i + 1 == data.rows()) {
            const auto difference = [](const auto& r) { return r.approve_most - r.approve_least; };
            std::stable_sort(out.rows.begin(), out.rows.end(), [&](const auto& a, const auto& b) {
                return difference(a) > difference(b);
            });
            out.rows.resize(std::min(out.rows.size(), Consistency::kMaxShown));
        }
    }
    out.share = alike / total;
    return out;
}

double RateGaps::rms() const { return std::sqrt((tpr * tpr + tnr * tnr) / 2); }
double RateGaps::max() const { return std::max(tpr, tnr); }

std::optional<RateGaps> rate_gaps(const fairness::GroupReport& report) {
    if (!report.false_negative || !report.false_positive) return std::nullopt;
    return RateGaps{report.false_negative->difference, report.false_positive->difference};
}

std::optional<double> balanced_accuracy(const stats::DecisionRates& rates) {
    const auto fnr = rates.false_negative.rate(), fpr = rates.false_positive.rate();
    if (!fnr || !fpr) return std::nullopt;
    return 1 - (*fnr + *fpr) / 2;
}

}  // namespace rampart::budro
