#include "rampart/fair_regression/oracles.hpp"

#include <algorithm>

namespace rampart::fair_regression {

base::Result<reductions::GbdtOracle> create_tree_oracle(const dataset::Dataset& data,
                                                        const gbdt::LearnerParams& params,
                                                        base::ThreadPool* pool,
                                                        const dataset::Dataset* validation) {
    constexpr size_t kLeastBins = 32, kRowsOfABin = 16;
    RAMPART_RETURN_IF_ERROR(gbdt::validate(params));
    auto own = params;
    own.max_bins = std::min(
        own.max_bins, static_cast<int>(std::max<size_t>(kLeastBins, data.rows() / kRowsOfABin)));
    return reductions::GbdtOracle::create(data, own, pool, validation);
}

}  // namespace rampart::fair_regression
