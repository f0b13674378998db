#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/dataset/dataset.hpp"
#include "rampart/dataset/ordered_statistics.hpp"
#include "rampart/model/policy.hpp"

namespace rampart::learning {

/// Lets trees split features with more categories than bins by ordered target statistics: learners
/// see numbers in their place, and what they learnt is written as sets of categories. So a link
/// reads the features of the schema and nothing else, as one without statistics does.
///
/// The statistics are of labels, and made once before a training: all that is fitted in it shares
/// them. ops/adr/0044 says why it is so.
class CategoryStatistics {
  public:
    /// Makes the statistics of each feature with more than max_bins categories in the rows, which
    /// check_columns() has to accept; nullopt: there is none.
    static std::optional<CategoryStatistics> create(const dataset::Dataset& train, size_t max_bins,
                                                    const dataset::StatisticsParams& params);

    /// Returns the training rows with numbers in place of the categories: those of each row's own
    /// place in the order. Requires the rows of create().
    dataset::Dataset training(const dataset::Dataset& train) const;
    /// Returns other rows with the numbers as they are served.
    dataset::Dataset served(const dataset::Dataset& rows) const;
    /// Makes sets of categories of the thresholds on such numbers. Missing and unknown values go
    /// where the rest's statistic goes. Requires a link learnt of those numbers, without linear
    /// models.
    void put_back(model::LearnedLink& link) const;
    /// Says for each feature what was done. Options are named in backticks.
    std::vector<std::string> notes() const;

  private:
    struct Feature {
        size_t feature;
        std::string name;
        dataset::OrderedStatistics statistics;
    };
    const Feature* find(int32_t feature) const;
    void put_back(model::Ensemble& ensemble) const;

    dataset::FeatureSchema schema_;  // with numbers
    std::vector<Feature> features_;
    size_t rows_ = 0, max_bins_ = 0;
};

}  // namespace rampart::learning
