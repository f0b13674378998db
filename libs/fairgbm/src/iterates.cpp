#include "iterates.hpp"

#include <algorithm>

#include "rampart/base/check.hpp"

namespace rampart::fairgbm {
namespace {

/// The randomized classifier over iterates i … last that keeps the constraints and reaches furthest
/// back, over iterates in question; the one that violates them least, if none does.
Choice best_stretch(const std::vector<Scored>& iterates, const Judges& judges,
                    const std::vector<bool>& in_question, size_t last) {
    Choice choice;
    Scored sum;
    const auto add = [](std::vector<double>& to, const std::vector<double>& from) {
        to.resize(from.size());
        for (size_t cell = 0; cell < to.size(); ++cell) to[cell] += from[cell];
    };
    for (size_t i = last + 1; i-- > 0 && in_question[i];) {
        sum.loss += iterates[i].loss;
        add(sum.approved, iterates[i].approved);
        add(sum.approved_train, iterates[i].approved_train);
        const auto count = static_cast<double>(last + 1 - i);
        Scored mean = sum;
        mean.loss /= count;
        for (double& share : mean.approved) share /= count;
        for (double& share : mean.approved_train) share /= count;
        judges.judge(mean);
        const bool fair = mean.violation <= 0;
        if (i == last || fair || (choice.scored.violation > 0 && better(mean, choice.scored))) {
            choice.scored = std::move(mean);
            choice.first = i;
        }
    }
    choice.last = last;
    return choice;
}

}  // namespace

double Judges::violation(const Scored& scored) const {
    const double here = rows->values(scored.approved).violation;
    if (train == nullptr) return here;
    return std::max(here, train->values(scored.approved_train).violation);
}

void Judges::judge(Scored& scored) const {
    const fairness::RateValues values = rows->values(scored.approved);
    scored.violation = violation(scored);
    scored.rarer = std::max(0.0, std::min(values.approval, 1 - values.approval));
    scored.keeps_targets = true;
    for (size_t i = 0; i < values.targets.size(); ++i)
        if (values.targets[i] > rows->targets()[i].target.at_most) scored.keeps_targets = false;
}

bool better(const Scored& a, const Scored& b) {
    const bool a_fair = a.violation <= 0, b_fair = b.violation <= 0;
    if (a_fair != b_fair) return a_fair;
    if (!a_fair && a.violation != b.violation) return a.violation < b.violation;
    return a.loss < b.loss;
}

Choice choose(double start_loss, const std::vector<Scored>& iterates, const Judges& judges,
              Output output, double min_gain_share) {
    RAMPART_CHECK(!iterates.empty());
    double least = iterates.front().loss;
    for (const auto& iterate : iterates) least = std::min(least, iterate.loss);
    const double gain = std::max(0.0, start_loss - least);
    const double cutoff = least + (1 - min_gain_share) * gain;
    RarestDecision rarest;
    for (const auto& iterate : iterates)
        if (iterate.loss <= cutoff) rarest.add(iterate);
    std::vector<bool> in_question;
    for (const auto& iterate : iterates)
        in_question.push_back(iterate.loss <= cutoff && !rarest.nearly_all(iterate));
    size_t best = iterates.size(), tightest = best;
    for (size_t t = 0; t < iterates.size(); ++t) {
        if (!in_question[t]) continue;
        if (best == iterates.size() || better(iterates[t], iterates[best])) best = t;
        if (tightest == iterates.size() || iterates[t].violation < iterates[tightest].violation)
            tightest = t;
    }
    const size_t last = iterates.size() - 1;
    Choice choice;
    switch (output) {
        case Output::kBest:
            choice = {best, best, iterates[best], 0, 0, 0};
            break;
        case Output::kLast:
            choice = {last, last, iterates[last], 0, 0, 0};
            break;
        case Output::kRandomized:
            // a stretch ends with an iterate in question
            size_t end = last;
            while (!in_question[end]) --end;
            choice = best_stretch(iterates, judges, in_question, end);
            break;
    }
    choice.tightest = tightest;
    choice.least_violation = iterates[tightest].violation;
    choice.most_rarer = rarest.most();
    return choice;
}

}  // namespace rampart::fairgbm
