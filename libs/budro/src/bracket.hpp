#pragma once

#include <vector>

#include "inner.hpp"

namespace rampart::budro {

/// Where the dual's minimum lies, for some sources (their weights scaled to sum 1): between two
/// prices, at whose lower end the cost of the best map is at least the budget and at whose upper
/// end at most. Sources whose best target is the same at both ends are *settled*: they keep it in
/// between, where their part of the dual is a straight line.
class Bracket {
  public:
    Bracket(const Inner& inner, std::vector<uint32_t> sources);

    /// Looks at lo and hi (0 <= lo < hi), and moves them apart by `factor` and more until the
    /// minimum is between them. guess: as of Search::best(), [sources]; may be empty.
    void open(double lo, double hi, double factor, std::span<const Choice> guess);

    /// One price between the ends becomes an end. False when nothing is left to gain in double
    /// precision.
    bool narrow();

    bool slack() const { return slack_; }  // at a price of 0 the budget suffices: minimum there
    double low() const { return lo_.eta; }
    double high() const { return hi_.eta; }
    double gap() const { return dual_ - bound(); }
    double dual() const { return dual_; }          // the least seen …
    double dual_eta() const { return dual_eta_; }  // … and where
    /// The least price known at which the map of the upper end is best, and the dual there.
    struct Price {
        double eta, dual;
    };
    Price price_of_high() const;
    bool low_is_spent() const { return lo_.sums.cost == inner_.budget; }
    /// Where the tangents of both ends meet. Its value there is what the mixture of both maps that
    /// spends the budget reaches: the primal.
    double crossing() const;
    double bound() const;

    /// The maps at both ends, [sources].
    std::vector<Choice> take_low() { return std::move(low_); }
    std::vector<Choice> take_high() { return std::move(high_); }
    void finish();  // before taking them

  private:
    struct End {
        double eta = 0;
        Sums sums;  // sums of all sources, over their weight
    };
    double value(const End& end) const { return end.eta * inner_.budget + end.sums.value(end.eta); }
    void look(const End& end);
    End evaluate(double eta, std::vector<Choice>& choices);
    void look_between(double lo, double hi, std::span<const Choice> guess);
    void open_low(double factor);
    void open_high(double factor);
    void settle();
    void list();
    Choice best_of(size_t k, double eta) const;

    const Inner& inner_;
    std::vector<uint32_t> sources_;
    double weight_ = 0;
    End lo_, hi_;
    bool slack_ = false;
    int steps_ = 0;
    double dual_ = 1e300, dual_eta_ = 0;
    std::vector<Choice> low_, high_;        // [sources], of the settled for good
    std::vector<uint32_t> open_, open_at_;  // sources not settled, and where in sources_ they are
    std::vector<Choice> open_low_, open_high_, middle_;
    std::vector<uint32_t> listed_at_;  // position in window_ by open source
    /// Once the ends are close: all that may be best between them, so that no search is needed.
    Window window_;
    bool listed_ = false;
    Sums settled_;
};

}  // namespace rampart::budro
