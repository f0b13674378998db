#include "tools/peers/elf/population.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/stats/distributions.hpp"

namespace rampart::peer_elf {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Person gaussian(size_t group, const double* z) {
    constexpr double kMeans[2][5] = {{0.3, -0.2, 0, 0, 0}, {-0.6, 0.5, 0, 0, 0}};
    Person p{std::vector<double>(z, z + 5), group, 0, 0};
    for (size_t j = 0; j < 5; ++j) p.x[j] += kMeans[group][j];
    const auto& x = p.x;
    p.beta =
        0.05 + 0.9 * sigmoid(0.2 + 0.8 * x[0] - 0.6 * x[1] + 0.5 * x[2] + 0.3 * x[3] - 0.2 * x[4]);
    const double merit = 0.2 + x[0] - 0.5 * x[1] + 0.6 * x[2] - (group == 1 ? 0.2 : 0.0);
    p.favourable = sigmoid(6 * merit);
    return p;
}

Person fico(size_t group, const double* z) {
    const double centre = group == 0 ? 1.0 : -0.15, width = group == 0 ? 0.9 : 0.85;
    const double height = sigmoid(centre + width * z[0]);  // 0: a score of 300, 1: 850
    Person p;
    p.group = group;
    p.x = {(300 + 550 * height - 600) / 100,   // score
           1.5 * (0.5 - height) + 0.6 * z[1],  // utilisation
           1.2 * (height - 0.5) + 0.8 * z[2],  // length of the history
           0.8 * (height - 0.5) + z[3]};       // income
    p.beta = 0.05 + 0.9 * sigmoid(0.2 + 0.7 * p.x[0] - 0.4 * p.x[1] + 0.2 * p.x[2] + 0.3 * p.x[3]);
    p.favourable = sigmoid(12 * (height - 0.52) - 0.8 * z[1] - (group == 1 ? 0.6 : 0.0));
    return p;
}

struct Noise {
    double mean, deviation;
};
constexpr Noise kNoise[kGroups] = {{2, 0.5}, {1, 1}};
constexpr double kClip = 4;  // standard deviations

}  // namespace

std::string to_string(Population population) {
    return population == Population::kGaussian ? "gaussian" : "fico";
}

size_t features_of(Population population) { return population == Population::kGaussian ? 5 : 4; }

double share_of_group_1(Population population) {
    return population == Population::kGaussian ? 0.3 : 0.12;
}

Person person_of(Population population, size_t group, const double* normals) {
    return population == Population::kGaussian ? gaussian(group, normals) : fico(group, normals);
}

Draw draw(Population population, size_t n, base::Random& random) {
    Draw out;
    auto& d = out.sample.log.decisions;
    d.groups = {{"group 0", {}}, {"group 1", {}}};
    d.record_id.resize(n);
    d.has_impact.assign(n, 1);
    out.columns.resize(features_of(population));
    double normals[kUniforms];
    for (uint32_t i = 0; i < n; ++i) {
        const size_t group = random.bernoulli(share_of_group_1(population)) ? 1 : 0;
        for (double& z : normals) z = random.normal();
        const Person p = person_of(population, group, normals);
        for (size_t j = 0; j < p.x.size(); ++j) out.columns[j].push_back(p.x[j]);
        d.p_approve.push_back(p.beta);
        d.reference.push_back(p.beta);
        d.approved.push_back(random.bernoulli(p.beta) ? 1 : 0);
        d.groups[group].records.push_back(i);
        out.sample.label.push_back(random.bernoulli(p.favourable) ? 1 : 0);
        const double noise = std::clamp(random.normal(), -kClip, kClip);
        out.noise.push_back(kNoise[group].mean + kNoise[group].deviation * noise);
    }
    out.sample.log.impact.resize(n);
    out.sample.impact_range.resize(kGroups);
    out.sample.tested = reference::stratified_split(d.groups, n, 0.4, random.next());
    return out;
}

void set_impact(Draw& draw, double alpha) {
    const auto& d = draw.sample.log.decisions;
    for (size_t i = 0; i < draw.noise.size(); ++i) {
        draw.sample.log.impact[i] = alpha * d.approved[i] + (1 - alpha) * draw.noise[i];
    }
    for (size_t g = 0; g < kGroups; ++g) {
        const double reach = kClip * kNoise[g].deviation;
        draw.sample.impact_range[g] = {(1 - alpha) * (kNoise[g].mean - reach),
                                       (1 - alpha) * (kNoise[g].mean + reach) + alpha};
    }
}

Judge make_judge(Population population, size_t people_per_group) {
    Judge out;
    out.share_1 = share_of_group_1(population);
    out.columns.resize(features_of(population));
    // the steps come from the root > 1 of x^(d+1) = x + 1
    double root = 2;
    for (int i = 0; i < 50; ++i) root = std::pow(1 + root, 1.0 / (kUniforms + 1));
    for (size_t group = 0; group < kGroups; ++group) {
        for (size_t k = 0; k < people_per_group; ++k) {
            double normals[kUniforms], step = 1;
            for (double& z : normals) {
                step /= root;
                const double u = std::fmod(0.5 + static_cast<double>(k + 1) * step, 1.0);
                z = stats::normal_quantile(std::clamp(u, 1e-9, 1 - 1e-9));
            }
            const Person p = person_of(population, group, normals);
            for (size_t j = 0; j < p.x.size(); ++j) out.columns[j].push_back(p.x[j]);
            out.beta.push_back(p.beta);
            out.favourable.push_back(p.favourable);
            out.group.push_back(group);
        }
    }
    return out;
}

std::vector<double> Judge::approval_change(const std::vector<double>& pi) const {
    std::vector<double> change(kGroups, 0), count(kGroups, 0);
    for (size_t i = 0; i < pi.size(); ++i) {
        change[group[i]] += pi[i] - beta[i];
        ++count[group[i]];
    }
    for (size_t g = 0; g < kGroups; ++g) change[g] /= count[g];
    return change;
}

double Judge::accuracy(const std::vector<double>& pi) const {
    double right[kGroups] = {0, 0}, count[kGroups] = {0, 0};
    for (size_t i = 0; i < pi.size(); ++i) {
        right[group[i]] += favourable[i] * pi[i] + (1 - favourable[i]) * (1 - pi[i]);
        ++count[group[i]];
    }
    return (1 - share_1) * right[0] / count[0] + share_1 * right[1] / count[1];
}

}  // namespace rampart::peer_elf
