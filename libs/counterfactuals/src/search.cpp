#include "rampart/counterfactuals/search.hpp"

#include <algorithm>
#include <charconv>
#include <queue>

#include "options.hpp"
#include "rampart/base/check.hpp"

namespace rampart::counterfactuals {
namespace {

/// A combination of moves and their options.
struct Combination {
    struct Pick {
        uint32_t move, option;
        auto operator<=>(const Pick&) const = default;
    };
    std::vector<Pick> picks{};  // ascending by move
    double distance = 0;

    /// Orders the queue: nearest first, then the fewest features.
    bool operator<(const Combination& other) const {
        if (distance != other.distance) return distance > other.distance;
        if (picks.size() != other.picks.size()) return picks.size() > other.picks.size();
        return picks > other.picks;
    }
};

/// The combinations in the order of their distance, each once. As the moves are sorted by their
/// nearest option, every combination but the first comes from exactly one that is not farther, by
/// one of three steps on its last pick: the next option; the next move instead, with its nearest
/// option; the next move as well.
class Nearest {
  public:
    Nearest(std::span<const Move> moves, size_t together) : moves_(moves), together_(together) {
        if (!moves.empty()) push({{0, 0}});
    }
    bool empty() const { return queue_.empty(); }
    double distance() const { return queue_.top().distance; }

    Combination next() {
        auto now = queue_.top();
        queue_.pop();
        return now;
    }

    /// Puts in what comes from a combination that was next(); without `also`, only what does not
    /// have all its moves.
    void go_on(const Combination& from, bool also) {
        const auto last = from.picks.back();
        const bool further = last.move + 1 < moves_.size();
        auto picks = from.picks;
        if (further && last.option == 0) {
            picks.back() = {last.move + 1, 0};
            push(picks);
        }
        if (!also) return;
        if (last.option + 1 < moves_[last.move].options.size()) {
            picks.back() = {last.move, last.option + 1};
            push(picks);
        }
        if (!further || picks.size() == together_) return;
        picks.back() = last;
        picks.push_back({last.move + 1, 0});
        push(std::move(picks));
    }

  private:
    void push(std::vector<Combination::Pick> picks) {
        double sum = 0;
        for (const auto& pick : picks) sum += moves_[pick.move].options[pick.option].distance;
        queue_.push({std::move(picks), sum});
    }

    const std::span<const Move> moves_;
    const size_t together_;
    std::priority_queue<Combination> queue_;
};

/// Returns whether the combination changes all features of an answer.
bool contains(const Combination& combination, const Answer& answer, std::span<const Move> moves) {
    return std::all_of(
        answer.changed.begin(), answer.changed.end(), [&](const ChangedFeature& changed) {
            return std::any_of(
                combination.picks.begin(), combination.picks.end(),
                [&](const auto& pick) { return moves[pick.move].feature == changed.feature; });
        });
}

}  // namespace

Searched find_changes(const attribution::Probability& p, const model::Policy& policy,
                      std::span<const float> row, const DeclaredChanges& declared, double u,
                      const SearchLimits& limits) {
    Searched out;
    out.p = out.most_p = p(row);
    out.missing = missing_in(row, declared, policy);
    const auto moves = moves_of(declared, policy, row);
    Nearest nearest(moves, declared.together);
    std::vector<float> x(row.begin(), row.end());
    while (!nearest.empty() && out.tried < limits.tried && out.answers.size() < limits.answers) {
        const auto combination = nearest.next();
        out.tried_to = combination.distance;
        const bool known =
            std::any_of(out.answers.begin(), out.answers.end(),
                        [&](const Answer& answer) { return contains(combination, answer, moves); });
        if (known) {
            ++out.passed_over;
            nearest.go_on(combination, false);
            continue;
        }
        ++out.tried;
        Answer answer{.distance = combination.distance};
        for (const auto& pick : combination.picks) {
            const auto& move = moves[pick.move];
            x[move.feature] = move.options[pick.option].value;
            answer.changed.push_back({move.feature, x[move.feature]});
        }
        answer.p = p(x);
        for (const auto& changed : answer.changed) x[changed.feature] = row[changed.feature];
        out.most_p = std::max(out.most_p, answer.p);
        nearest.go_on(combination, answer.p <= u);
        if (answer.p <= u) continue;
        std::sort(answer.changed.begin(), answer.changed.end(),
                  [](const auto& a, const auto& b) { return a.feature < b.feature; });
        out.answers.push_back(std::move(answer));
    }
    out.complete = nearest.empty();
    if (!out.complete) out.tried_to = nearest.distance();
    return out;
}

double declared_number(float value) {
    const auto text = fmt::format("{}", value);
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

domain::Application changed_application(const domain::Application& application,
                                        const dataset::FeatureSchema& schema,
                                        const Answer& answer) {
    auto out = application;
    for (const auto& changed : answer.changed) {
        const auto& spec = schema.features()[changed.feature];
        const auto it = std::find_if(out.features.begin(), out.features.end(),
                                     [&](const auto& one) { return one.name == spec.name; });
        RAMPART_CHECK(it != out.features.end(), "the application has no '{}'", spec.name);
        if (spec.kind == dataset::FeatureKind::kNumeric) {
            it->value = declared_number(changed.value);
        } else {
            it->value = spec.categories[static_cast<size_t>(changed.value)];
        }
    }
    return out;
}

}  // namespace rampart::counterfactuals
