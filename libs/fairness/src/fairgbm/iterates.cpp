#include "iterates.hpp"

#include <algorithm>

#include "rampart/base/check.hpp"

namespace rampart::fairness {
namespace {

/// The randomized classifier over iterates i … last that keeps the constraints and reaches furthest
/// back, over iterates worth having; the one that violates them least, if none does.
Choice best_stretch(const std::vector<Scored>& iterates, const Judges& judges, double cutoff,
                    size_t last) {
    Choice choice;
    Scored sum;
    const auto add = [](std::vector<double>& to, const std::vector<double>& from) {
        to.resize(from.size());
        for (size_t cell = 0; cell < to.size(); ++cell) to[cell] += from[cell];
    };
    for (size_t i = last + 1; i-- > 0 && iterates[i].loss <= cutoff;) {
        sum.loss += iterates[i].loss;
        add(sum.approved, iterates[i].approved);
        add(sum.approved_train, iterates[i].approved_train);
        const auto count = static_cast<double>(last + 1 - i);
        Scored mean = sum;
        mean.loss /= count;
        for (double& share : mean.approved) share /= count;
        for (double& share : mean.approved_train) share /= count;
        mean.violation = judges.violation(mean);
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
    size_t best = iterates.size(), tightest = best;
    for (size_t t = 0; t < iterates.size(); ++t) {
        if (iterates[t].loss > cutoff) continue;
        if (best == iterates.size() || better(iterates[t], iterates[best])) best = t;
        if (tightest == iterates.size() || iterates[t].violation < iterates[tightest].violation)
            tightest = t;
    }
    const size_t last = iterates.size() - 1;
    Choice choice;
    switch (output) {
        case Output::kBest: choice = {best, best, iterates[best], 0, 0}; break;
        case Output::kLast: choice = {last, last, iterates[last], 0, 0}; break;
        case Output::kRandomized:
            // a stretch ends with an iterate worth having
            size_t end = last;
            while (iterates[end].loss > cutoff) --end;
            choice = best_stretch(iterates, judges, cutoff, end);
            break;
    }
    choice.tightest = tightest;
    choice.least_violation = iterates[tightest].violation;
    return choice;
}

}  // namespace rampart::fairness
