#include "rampart/numeric/folds.hpp"

#include <algorithm>
#include <numeric>

#include "rampart/base/random.hpp"

namespace rampart::numeric {

std::vector<uint32_t> stratified_folds(std::span<const uint32_t> stratum, size_t folds,
                                       uint64_t seed) {
    std::vector<uint32_t> order(stratum.size());
    std::iota(order.begin(), order.end(), 0u);
    base::Random random(seed);
    random.shuffle(std::span<uint32_t>(order));
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return stratum[a] < stratum[b]; });
    std::vector<uint32_t> fold(stratum.size());
    // on from where the stratum before it ended: folds are of one size whatever the strata are
    for (size_t i = 0; i < order.size(); ++i) fold[order[i]] = static_cast<uint32_t>(i % folds);
    return fold;
}

}  // namespace rampart::numeric
