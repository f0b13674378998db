#include "rampart/gbdt/bins.hpp"

#include <utility>

#include "binned_data.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/gbdt/reasons.hpp"

namespace rampart::gbdt {

struct Bins::Kept {
    dataset::FeatureSchema schema;
    size_t rows;
    int max_bins;
    BinnedData binned;
};

base::Result<Bins> Bins::create(const dataset::Dataset& data, int max_bins,
                                base::ThreadPool* pool) {
    if (data.rows() == 0)
        return base::make_error(base::Reason::kNoRows, "the training set has no rows");
    if (max_bins < 0) {
        return base::make_error(Reason::kBadLearnerParameter,
                                "max_bins is {}; allowed are 2 to 255", max_bins);
    }
    RAMPART_TRY(auto binned, BinnedData::create(data, static_cast<size_t>(max_bins), pool));
    return Bins(
        std::make_shared<const Kept>(Kept{data.schema, data.rows(), max_bins, std::move(binned)}));
}

const BinnedData& Bins::binned() const { return kept_->binned; }

base::Status Bins::check(const dataset::Dataset& data, int max_bins) const {
    const Kept& kept = *kept_;
    if (data.rows() == kept.rows && max_bins == kept.max_bins && data.schema == kept.schema)
        return base::ok();
    return base::make_error(
        Reason::kOtherBins,
        "the bins given are of {} rows and {} features, max_bins {}; the training set has {} rows "
        "and {}features, max_bins is {}: make them of this training set",
        kept.rows, kept.schema.size(), kept.max_bins, data.rows(),
        data.schema == kept.schema ? "the same " : fmt::format("{} other ", data.schema.size()),
        max_bins);
}

}  // namespace rampart::gbdt
