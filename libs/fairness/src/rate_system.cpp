#include "rampart/fairness/rate_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "rampart/base/check.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/fairness/reasons.hpp"

namespace rampart::fairness {
namespace {

static_assert(2 * base::limits::kMaxGroups <= 256, "a cell is a byte");

/// Groups that are compared: which groups of the data each is made of.
struct Compared {
    std::string name;
    std::vector<size_t> groups;
};

/// "sex=f" of "race=a,sex=f"; empty if the attribute is not there. A value that holds a comma and
/// something like the next attribute's name is cut there.
std::string_view part_of(std::string_view name, std::string_view attribute) {
    const std::string wanted = fmt::format("{}=", attribute);
    size_t from = 0;
    while (name.substr(from, wanted.size()) != wanted) {
        from = name.find(',', from);
        if (from == std::string_view::npos) return {};
        ++from;
    }
    const auto rest = name.substr(from);
    for (size_t comma = rest.find(','); comma != std::string_view::npos;
         comma = rest.find(',', comma + 1)) {
        const auto next = rest.find_first_of(",=", comma + 1);
        if (next != std::string_view::npos && rest[next] == '=') return rest.substr(0, comma);
    }
    return rest;
}

base::Result<std::vector<Compared>> compared(const std::vector<std::string>& names,
                                             const ParityConstraint& constraint) {
    std::vector<Compared> out;
    if (constraint.attribute.empty()) {
        for (size_t k = 0; k < names.size(); ++k) out.push_back({names[k], {k}});
    } else {
        std::map<std::string_view, std::vector<size_t>> members;
        for (size_t k = 0; k < names.size(); ++k) {
            const auto part = part_of(names[k], constraint.attribute);
            if (part.empty())
                return base::make_error(base::Reason::kUnknownAttribute,
                                        "{}@{}: group '{}' has no attribute of that name; "
                                        "it must be a protected column of the schema",
                                        to_string(constraint.rate), constraint.attribute, names[k]);
            members[part].push_back(k);
        }
        for (const auto& [name, groups] : members) out.push_back({std::string(name), groups});
    }
    if (out.size() < 2)
        return base::make_error(Reason::kTooFewGroups,
                                "parity of {} needs at least two groups, the data have {}: "
                                "name protected columns in the schema",
                                to_string(constraint.rate), out.size());
    return out;
}

/// The rate among the rows of some groups, as a function of the cells' approval shares.
base::Result<LinearRate> linear(Rate rate, const Compared& who, size_t groups,
                                std::span<const double> cell_weight, double total) {
    const bool zeros = rate != Rate::kFalseNegative, ones = rate != Rate::kFalsePositive;
    LinearRate out;
    out.name = fmt::format("{} of {}", to_string(rate), who.name);
    double weight = 0;
    for (const size_t k : who.groups)
        weight += (zeros ? cell_weight[k] : 0) + (ones ? cell_weight[groups + k] : 0);
    if (!(weight > 0))
        return base::make_error(
            Reason::kGroupWithoutLabel,
            "group '{}' has no row with the {} label: its {} does not exist; merge it with another "
            "group, leave its rows out or do not constrain this rate",
            who.name, zeros ? "unfavourable" : "favourable", to_string(rate));
    for (const size_t k : who.groups) {
        if (const double w = cell_weight[k]; zeros && w > 0)
            out.terms.push_back({static_cast<uint32_t>(k), w / weight});
        if (const double w = cell_weight[groups + k]; ones && w > 0) {
            const bool errors = rate != Rate::kApproval;  // a declined 1 is an error
            out.terms.push_back({static_cast<uint32_t>(groups + k), (errors ? -w : w) / weight});
            if (errors) out.constant += w / weight;
        }
    }
    out.weight = weight / total;
    return out;
}

}  // namespace

double LinearRate::at(std::span<const double> approved) const {
    double sum = constant;
    for (const Term& term : terms) sum += term.coefficient * approved[term.cell];
    return std::clamp(sum, 0.0, 1.0);  // but for rounding it is there
}

base::Result<RateSystem> RateSystem::create(const dataset::Dataset& data,
                                            const RateConstraints& constraints) {
    RAMPART_RETURN_IF_ERROR(validate(constraints));
    const size_t n = data.rows();
    const bool grouped = !data.group.empty();
    const auto names = grouped ? data.group_names : std::vector<std::string>{"all rows"};
    RateSystem system;
    system.groups_ = names.size();
    system.cell_of_row_.resize(n);
    system.cell_weight_.resize(2 * names.size());
    for (size_t i = 0; i < n; ++i) {
        const size_t k = grouped ? static_cast<size_t>(data.group[i]) : 0;
        const size_t cell = data.label[i] * names.size() + k;
        system.cell_of_row_[i] = static_cast<uint8_t>(cell);
        system.cell_weight_[cell] += static_cast<double>(data.weight_of(i));
    }
    for (const double weight : system.cell_weight_) system.total_weight_ += weight;
    const auto make = [&](Rate rate, const Compared& who) {
        return linear(rate, who, names.size(), system.cell_weight_, system.total_weight_);
    };
    for (const auto& constraint : constraints.parity) {
        RAMPART_TRY(const auto groups,
                    compared(grouped ? names : std::vector<std::string>(), constraint));
        ParityRates parity{constraint, {}};
        for (const auto& group : groups) {
            RAMPART_TRY(auto rate, make(constraint.rate, group));
            parity.rates.push_back(std::move(rate));
        }
        system.parity_.push_back(std::move(parity));
    }
    Compared all_rows{"all rows", {}};
    for (size_t k = 0; k < names.size(); ++k) all_rows.groups.push_back(k);
    for (const auto& target : constraints.targets) {
        RAMPART_TRY(auto rate, make(target.rate, all_rows));
        system.targets_.push_back({target, std::move(rate)});
    }
    return system;
}

RateValues RateSystem::values(std::span<const double> approved) const {
    RAMPART_CHECK(approved.size() == cells());
    RateValues out;
    for (const auto& parity : parity_) {
        std::vector<double> rates;
        for (const auto& rate : parity.rates) rates.push_back(rate.at(approved));
        const auto [lo, hi] = std::minmax_element(rates.begin(), rates.end());
        out.gaps.push_back(*hi - *lo);
        out.violation = std::max(out.violation, out.gaps.back() - parity.constraint.tolerance);
        out.rates.push_back(std::move(rates));
    }
    for (const auto& [target, rate] : targets_) {
        out.targets.push_back(rate.at(approved));
        out.violation = std::max(out.violation, out.targets.back() - target.at_most);
    }
    for (size_t cell = 0; cell < cells(); ++cell) {
        const double weight = cell_weight_[cell] / total_weight_;
        out.approval += weight * approved[cell];
        out.error += weight * (cell < groups_ ? approved[cell] : 1 - approved[cell]);
    }
    return out;
}

std::vector<double> RateSystem::approved(const dataset::Dataset& data,
                                         std::span<const double> approve) const {
    RAMPART_CHECK(approve.size() == cell_of_row_.size() && data.rows() == approve.size());
    std::vector<double> out(cells());
    for (size_t i = 0; i < approve.size(); ++i)
        out[cell_of_row_[i]] += static_cast<double>(data.weight_of(i)) * approve[i];
    for (size_t cell = 0; cell < out.size(); ++cell)
        if (cell_weight_[cell] > 0) out[cell] /= cell_weight_[cell];
    return out;
}

std::vector<double> RateSystem::approved_from(const dataset::Dataset& data,
                                              std::span<const double> scores,
                                              double threshold) const {
    RAMPART_CHECK(scores.size() == cell_of_row_.size() && data.rows() == scores.size());
    std::vector<double> out(cells());
    for (size_t i = 0; i < scores.size(); ++i)
        if (scores[i] >= threshold) out[cell_of_row_[i]] += static_cast<double>(data.weight_of(i));
    for (size_t cell = 0; cell < out.size(); ++cell)
        if (cell_weight_[cell] > 0) out[cell] /= cell_weight_[cell];
    return out;
}

}  // namespace rampart::fairness
