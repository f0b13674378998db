#pragma once

#include <string>
#include <vector>

#include "rampart/base/random.hpp"
#include "reference/elf.hpp"

namespace rampart::peer_elf {

/// Synthetic applicants of two groups, their labels, and the behaviour model beta, a logistic one
/// with P(approve) in [0.05, 0.95]. Not derived from real persons' data.
///
///   gaussian  30 % in group 1; five normal features, their means shifted by group
///   fico      12 % in group 1; a credit score from 300 to 850, skewed to the top in group 0
///             and to the bottom in group 1 (a logistic-normal share of the range), and three noisy
///             features correlated with it
///
/// The label depends on features and group, and most of group 1's labels are unfavourable: learners
/// that maximise accuracy approve fewer of group 1 than beta does.
enum class Population { kGaussian, kFico };
std::string to_string(Population population);

inline constexpr size_t kGroups = 2;

struct Person {
    std::vector<double> x;
    size_t group = 0;
    double beta = 0;        // P(approve) of the behaviour model
    double favourable = 0;  // P(label = 1 | x, group)
};

/// Returns a person from kUniforms uniform numbers in (0, 1): one per normal number.
inline constexpr size_t kUniforms = 5;
size_t features_of(Population population);
double share_of_group_1(Population population);
Person person_of(Population population, size_t group, const double* normals);

/// n people without the impact, and the noise for it: N of eq. 6, clipped at four standard
/// deviations so that a range can be declared.
struct Draw {
    reference::ElfSample sample;
    std::vector<std::vector<double>> columns;
    std::vector<double> noise;
};
Draw draw(Population population, size_t n, base::Random& random);

/// Sets the impacts of eq. 6 and their declared ranges: I = alpha * decision + (1 - alpha) N, with
/// N(2, 0.5) in group 0 and N(1, 1) in group 1.
void set_impact(Draw& draw, double alpha);

/// Equally many people per group, evenly spread (Roberts' additive recurrence), to evaluate a
/// policy's effect on the population to about 1e-4.
struct Judge {
    std::vector<std::vector<double>> columns;
    std::vector<double> beta, favourable;
    std::vector<size_t> group;
    double share_1 = 0;

    /// Returns the approval rate's change by group against beta; alpha times it is eq. 6's effect.
    std::vector<double> approval_change(const std::vector<double>& pi) const;
    /// Returns P(decision = label).
    double accuracy(const std::vector<double>& pi) const;
};
Judge make_judge(Population population, size_t people_per_group);

}  // namespace rampart::peer_elf
