#include "claim_checker.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace rampart::reasons_test {
namespace {

constexpr size_t kFour = 4;
constexpr double kSurely = 1e-9;     // a Shapley value above it lowers P, whatever the rounding
constexpr double kPossibly = 1e-11;  // one above it may

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::vector<size_t> without(std::vector<size_t> units, size_t unit) {
    std::erase(units, unit);
    return units;
}

std::string wrong_kind(const Mixtures& mixtures, const Said& said) {
    using attribution::DeclinedBy;
    const auto& cited = said.cited;
    if (said.u < said.p_exploit)
        return cited.by == DeclinedBy::kExploration && cited.units.empty()
                   ? ""
                   : "exploration declined, and something else is said";
    if (cited.by == DeclinedBy::kExploration) return "exploration did not decline";
    if (mixtures.none() == 0)
        return cited.by == DeclinedBy::kFeatures ? "" : "no draw would have approved";
    const bool approvable =
        cited.reaches || mixtures.of(mixtures.differing()) > said.u || !cited.exact;
    const auto by = approvable ? DeclinedBy::kFeaturesAndDraw : DeclinedBy::kDraw;
    return cited.by == by ? "" : "another part of the draw is said";
}

}  // namespace

Mixtures::Mixtures(const OfRow& p, std::span<const float> row, std::span<const float> reference,
                   std::span<const attribution::Unit> units)
    : p_(p), row_(row), reference_(reference), units_(units) {
    for (size_t k = 0; k < units.size(); ++k)
        if (std::any_of(units[k].features.begin(), units[k].features.end(),
                        [&](size_t j) { return !same(row[j], reference[j]); }))
            differing_.push_back(k);
}

double Mixtures::of(const std::vector<size_t>& restored) const {
    std::vector<float> mixed(row_.begin(), row_.end());
    for (const size_t k : restored)
        for (const size_t j : units_[k].features) mixed[j] = reference_[j];
    return p_(mixed);
}

const std::vector<double>& Mixtures::of_all_sets() const {
    if (!all_.empty()) return all_;
    for (size_t set = 0; set < size_t{1} << differing_.size(); ++set) {
        std::vector<size_t> restored;
        for (size_t k = 0; k < differing_.size(); ++k)
            if ((set >> k & 1) != 0) restored.push_back(differing_[k]);
        all_.push_back(of(restored));
    }
    return all_;
}

std::vector<double> shapley_by_definition(const OfRow& p, std::span<const float> row,
                                          std::span<const float> reference_rows,
                                          std::span<const attribution::Unit> units) {
    const size_t rows = reference_rows.size() / row.size();
    std::vector<double> out(units.size());
    for (size_t r = 0; r < rows; ++r) {
        const Mixtures mixtures(p, row, reference_rows.subspan(r * row.size(), row.size()), units);
        const auto& players = mixtures.differing();
        const auto& value = mixtures.of_all_sets();
        const auto n = static_cast<double>(players.size());
        std::vector<double> weight;
        for (size_t s = 0; s < players.size(); ++s) {
            const auto size = static_cast<double>(s);
            weight.push_back(std::tgamma(size + 1) * std::tgamma(n - size) / std::tgamma(n + 1));
        }
        for (size_t k = 0; k < players.size(); ++k)
            for (size_t set = 0; set < value.size(); ++set)
                if ((set >> k & 1) == 0)
                    out[players[k]] += weight[static_cast<size_t>(std::popcount(set))] *
                                       (value[set | size_t{1} << k] - value[set]) /
                                       static_cast<double>(rows);
    }
    return out;
}

std::string broken_by_its_units(const Mixtures& mixtures, const Said& said) {
    const auto& cited = said.cited;
    if (auto wrong = wrong_kind(mixtures, said); !wrong.empty()) return wrong;
    if (said.u < said.p_exploit) return "";
    if (cited.units.size() > kFour) return "more than four";
    const double restored = mixtures.of(cited.units);
    if (restored != cited.p_restored || cited.reaches != (restored > said.u)) return "another P";
    const double whole = mixtures.of(mixtures.differing());
    if (whole != cited.p_reference) return "another P of the reference row";
    if (cited.others != (!cited.reaches && whole > restored)) return "others, or none, are there";
    double strongest = 0;
    for (const size_t unit : cited.units) {
        const double less = mixtures.of(without(cited.units, unit));
        if (!(less < restored)) return "a cited unit moved P the other way, or not at all";
        if (cited.reaches && less > said.u) return "one may be left out";
        strongest = std::max(strongest, mixtures.of({unit}));
    }
    if (!cited.units.empty() && mixtures.of({cited.units.front()}) != strongest)
        return "not the strongest first";
    return "";
}

std::string broken(const Mixtures& mixtures, const std::vector<double>& lowered, const Said& said) {
    const auto& cited = said.cited;
    if (auto wrong = broken_by_its_units(mixtures, said); !wrong.empty()) return wrong;
    if (said.u < said.p_exploit) return "";
    if (!cited.exact) return "not every set was looked at";
    for (const size_t unit : cited.units)
        if (!(lowered[unit] > kPossibly)) return "a cited unit's Shapley value raises P";
    for (size_t i = 2; i < cited.units.size(); ++i)
        if (lowered[cited.units[i]] > lowered[cited.units[i - 1]] + kSurely)
            return "not by Shapley value";
    const auto& value = mixtures.of_all_sets();
    for (size_t set = 0; set < value.size(); ++set) {
        const auto size = static_cast<size_t>(std::popcount(set));
        if (size > kFour) continue;
        bool all_lower = true;
        for (size_t k = 0; k < mixtures.differing().size(); ++k)
            if ((set >> k & 1) != 0) all_lower &= lowered[mixtures.differing()[k]] > kSurely;
        if (!all_lower) continue;
        if (!cited.reaches && value[set] > cited.p_restored) return "another set does more";
        if (!cited.reaches || !(value[set] > said.u)) continue;
        if (size < cited.units.size()) return "a smaller set does as much";
        if (size == cited.units.size() && value[set] > cited.p_restored)
            return "another set of the size does more";
    }
    return "";
}

}  // namespace rampart::reasons_test
