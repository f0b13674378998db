#include "quadratic_step.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

namespace rampart::ramp {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

/// Which side of its kink a variable is on. One without a kink (lo = hi) is always free.
enum class Side { kZero, kNegative, kPositive, kSmooth };

class ActiveSet {
  public:
    ActiveSet(const std::vector<double>& matrix, const std::vector<double>& linear,
              std::span<const Window> windows, size_t families, std::vector<double> start)
        : m_(windows.size()),
          windows_(windows),
          y_(Eigen::Map<const Eigen::VectorXd>(start.data(), index(m_))),
          linear_(Eigen::Map<const Eigen::VectorXd>(linear.data(), index(m_))),
          matrix_(Eigen::Map<const Eigen::MatrixXd>(matrix.data(), index(m_), index(m_))),
          centre_(families),
          free_of_family_(families) {
        for (size_t j = 0; j < m_; ++j) {
            const double y = y_[index(j)];
            side_.push_back(windows[j].lo == windows[j].hi ? Side::kSmooth
                            : y > 0                        ? Side::kPositive
                            : y < 0                        ? Side::kNegative
                                                           : Side::kZero);
        }
    }

    std::vector<double> run() {
        const size_t most = 20 * m_ + 50;  // fewer are needed but for rounding
        for (size_t step = 0; step < most; ++step)
            if (!move_to_best_of_sides() && !release()) break;
        return {y_.data(), y_.data() + m_};
    }

  private:
    static Eigen::Index index(size_t i) { return static_cast<Eigen::Index>(i); }

    /// The free variables; the one kinked variable that is free in a family has to be 0.
    std::vector<size_t> free_variables() {
        std::fill(free_of_family_.begin(), free_of_family_.end(), 0);
        for (size_t j = 0; j < m_; ++j)
            if (side_[j] != Side::kZero && windows_[j].family >= 0)
                ++free_of_family_[static_cast<size_t>(windows_[j].family)];
        std::vector<size_t> free;
        for (size_t j = 0; j < m_; ++j) {
            if (side_[j] == Side::kZero) continue;
            const int32_t family = windows_[j].family;
            if (family >= 0 && free_of_family_[static_cast<size_t>(family)] == 1 &&
                side_[j] != Side::kSmooth) {
                side_[j] = Side::kZero;
                y_[index(j)] = 0;
                free_of_family_[static_cast<size_t>(family)] = 0;
                continue;
            }
            free.push_back(j);
        }
        return free;
    }

    double bound(size_t j) const {
        return side_[j] == Side::kNegative ? windows_[j].lo : windows_[j].hi;
    }

    /// The minimiser were the sides kept, and the families' centres.
    Eigen::VectorXd best_of(const std::vector<size_t>& free) {
        std::vector<Eigen::Index> row(centre_.size(), -1);
        Eigen::Index size = index(free.size());
        for (size_t family = 0; family < centre_.size(); ++family)
            if (free_of_family_[family] > 0) row[family] = size++;
        Eigen::MatrixXd system = Eigen::MatrixXd::Zero(size, size);
        Eigen::VectorXd right = Eigen::VectorXd::Zero(size);
        for (size_t a = 0; a < free.size(); ++a) {
            for (size_t b = 0; b < free.size(); ++b)
                system(index(a), index(b)) = matrix_(index(free[a]), index(free[b]));
            right[index(a)] = -(linear_[index(free[a])] + bound(free[a]));
            const int32_t family = windows_[free[a]].family;
            if (family < 0) continue;
            const Eigen::Index at = row[static_cast<size_t>(family)];
            system(index(a), at) = system(at, index(a)) = 1;
        }
        const Eigen::VectorXd found = system.partialPivLu().solve(right);
        Eigen::VectorXd best = Eigen::VectorXd::Zero(index(m_));
        for (size_t a = 0; a < free.size(); ++a) best[index(free[a])] = found[index(a)];
        for (size_t family = 0; family < centre_.size(); ++family)
            if (row[family] >= 0) centre_[family] = found[row[family]];
        return best;
    }

    /// False: y is the minimiser with these sides. True: a variable met its kink on the way there.
    bool move_to_best_of_sides() {
        const auto free = free_variables();
        if (free.empty()) return false;
        const Eigen::VectorXd best = best_of(free);
        double share = 1;
        size_t met = m_;
        for (const size_t j : free) {
            const double from = y_[index(j)], to = best[index(j)];
            const bool crosses =
                (side_[j] == Side::kPositive && to < 0) || (side_[j] == Side::kNegative && to > 0);
            if (!crosses) continue;
            const double part = from == to ? 0 : std::clamp(from / (from - to), 0.0, 1.0);
            if (part < share || met == m_) {
                share = part;
                met = j;
            }
        }
        y_ = met == m_ ? best : (y_ + share * (best - y_)).eval();
        if (met == m_) return false;
        y_[index(met)] = 0;
        side_[met] = Side::kZero;
        return true;
    }

    /// Sets the variable at 0 free that gains most from it; of a family with none free, two.
    bool release() {
        const Eigen::VectorXd gradient = matrix_ * y_ + linear_;
        struct Gain {
            double size = 1e-15;
            size_t up, down;  // variables that become positive, negative; m_: none
        } best{1e-15, m_, m_};
        struct Ends {  // range of the centres that keep every variable of a family at 0
            double lo = -kNone, hi = kNone;
            size_t up = 0, down = 0;
        };
        std::vector<Ends> ends(centre_.size());
        for (size_t j = 0; j < m_; ++j) {
            if (side_[j] != Side::kZero) continue;
            const double g = gradient[index(j)];
            const int32_t family = windows_[j].family;
            if (family >= 0 && free_of_family_[static_cast<size_t>(family)] == 0) {
                Ends& end = ends[static_cast<size_t>(family)];
                if (-windows_[j].hi - g > end.lo) end.lo = -windows_[j].hi - g, end.up = j;
                if (-windows_[j].lo - g < end.hi) end.hi = -windows_[j].lo - g, end.down = j;
                continue;
            }
            const double wish = -g - (family >= 0 ? centre_[static_cast<size_t>(family)] : 0);
            if (wish - windows_[j].hi > best.size) best = {wish - windows_[j].hi, j, m_};
            if (windows_[j].lo - wish > best.size) best = {windows_[j].lo - wish, m_, j};
        }
        for (const Ends& end : ends)
            if (end.lo - end.hi > best.size) best = {end.lo - end.hi, end.up, end.down};
        if (best.up < m_) side_[best.up] = Side::kPositive;
        if (best.down < m_) side_[best.down] = Side::kNegative;
        return best.up < m_ || best.down < m_;
    }

    size_t m_;
    std::span<const Window> windows_;
    Eigen::VectorXd y_, linear_;
    Eigen::MatrixXd matrix_;
    std::vector<Side> side_;
    std::vector<double> centre_;          // [families] of the last system solved
    std::vector<size_t> free_of_family_;  // [families]
};

}  // namespace

std::vector<double> quadratic_step(const std::vector<double>& matrix,
                                   const std::vector<double>& linear,
                                   std::span<const Window> windows, size_t families,
                                   std::vector<double> start) {
    return ActiveSet(matrix, linear, windows, families, std::move(start)).run();
}

}  // namespace rampart::ramp
