#include "mixture.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rampart::model {
namespace {

size_t trees_used(const Member& member, const Ensemble& ensemble) {
    return member.trees == 0 ? ensemble.trees.size() : member.trees;
}

}  // namespace

Mixture::Mixture(const LearnedLink& link)
    : slope_(link.score_slope),
      intercept_(link.score_intercept),
      scale_(link.scale),
      linears_(link.linears),
      ramps_{link.ramp} {
    const auto& members = link.members;
    std::vector<uint32_t> ramp_of(members.size()), order(members.size());
    for (size_t m = 0; m < members.size(); ++m) {
        if (!members[m].ramp) continue;
        ramp_of[m] = static_cast<uint32_t>(ramps_.size());
        ramps_.push_back(*members[m].ramp);
    }
    const auto ensemble_of = [&](size_t e) -> const Ensemble& {
        return e == 0 ? link.ensemble : link.additional_ensembles[e - 1];
    };
    const auto place = [&](uint32_t m) {
        return std::pair(members[m].ensemble,
                         trees_used(members[m], ensemble_of(members[m].ensemble)));
    };
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return place(a) < place(b); });
    for (size_t from = 0; from < order.size();) {
        const uint32_t e = members[order[from]].ensemble;
        size_t to = from;
        while (to < order.size() && members[order[to]].ensemble == e) ++to;
        add_part(ensemble_of(e), members, std::span(order).subspan(from, to - from), ramp_of);
        from = to;
    }
    for (const Rule& rule : rules_) weight_ += rule.weight;
}

void Mixture::add_part(const Ensemble& ensemble, std::span<const Member> members,
                       std::span<const uint32_t> order, std::span<const uint32_t> ramp_of) {
    Part part{Engine(ensemble), {}, false};
    for (const uint32_t m : order) {
        const auto trees = static_cast<uint32_t>(trees_used(members[m], ensemble));
        if (part.steps.empty() || part.steps.back().trees != trees)
            part.steps.push_back({trees, static_cast<uint32_t>(rules_.size()), 0});
        rules_.push_back({members[m].weight, ramp_of[m], members[m].linear});
        ++part.steps.back().count;
    }
    part.whole = part.steps.front().trees == ensemble.trees.size();
    parts_.push_back(std::move(part));
}

template <class Each>
void Mixture::for_each_rule(std::span<const float> row, Each each) const {
    std::vector<double> raw;
    for (const Part& part : parts_) {
        raw.resize(part.whole ? 1 : part.steps.back().trees);
        if (part.whole) {
            raw[0] = part.engine.predict_raw(row);
        } else {
            part.engine.predict_prefixes(row, raw);
        }
        for (const Step& step : part.steps) {
            const double trees = part.whole ? raw[0] : raw[step.trees - 1];
            const double alone = scale_.apply(trees);
            for (const Rule& rule : std::span(rules_).subspan(step.first, step.count)) {
                each(rule, rule.linear == 0
                               ? alone
                               : scale_.apply(trees + linears_[rule.linear - 1].predict(row)));
            }
        }
    }
}

std::vector<ScoreMass> Mixture::scores(std::span<const float> row) const {
    std::vector<ScoreMass> out;
    out.reserve(rules_.size());
    for_each_rule(row, [&](const Rule& rule, double p) {
        out.push_back({p, rule.weight / weight_});
    });
    return out;
}

Mixture::Answer Mixture::evaluate(std::span<const float> row, size_t group) const {
    double score = 0, approve = 0;
    for_each_rule(row, [&](const Rule& rule, double p) {
        const double f = std::clamp(slope_ * p + intercept_, -1.0, 1.0);
        score += rule.weight * p;
        approve += rule.weight * ramps_[rule.ramp].apply(f, group);
    });
    // the weights sum to about 1: dividing by the exact sum gives exactly 0 or 1 if all members
    // agree
    return {std::clamp(score / weight_, 0.0, 1.0), std::clamp(approve / weight_, 0.0, 1.0)};
}

}  // namespace rampart::model
