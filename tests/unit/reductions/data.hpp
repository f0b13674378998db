#pragma once

#include <map>
#include <vector>

#include "rampart/reductions/oracle.hpp"
#include "support/grouped_data.hpp"

namespace rampart::reductions {

using support::made_up;
using support::toy;

/// Decides each combination of values by itself, at least cost: no classifier of these features is
/// better. Its ensembles are empty.
class ExactOracle : public Oracle {
  public:
    explicit ExactOracle(const dataset::Dataset& data) : data_(data) {}

    base::Result<OracleAnswer> fit(const OracleQuestion& question) override {
        ++fits;
        std::map<std::vector<float>, double> cost;
        const auto key = [&](size_t row) {
            std::vector<float> values(data_.columns.size());
            data_.copy_row(row, values);
            return values;
        };
        for (size_t i = 0; i < data_.rows(); ++i)
            cost[key(i)] += static_cast<double>(question.weights[i]) *
                            (question.targets[i] == 1.0 ? -1.0 : 1.0);
        OracleAnswer answer{.model = model::Ensemble{}, .scores = {}, .validation_scores = {}};
        for (size_t i = 0; i < data_.rows(); ++i)
            answer.scores.push_back(cost[key(i)] < 0 ? 1 : -1);
        return answer;
    }

    int fits = 0;

  private:
    const dataset::Dataset& data_;
};

}  // namespace rampart::reductions
