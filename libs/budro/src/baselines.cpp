#include "rampart/budro/baselines.hpp"

#include <array>

#include "rampart/base/reasons.hpp"

namespace rampart::budro {

base::Result<std::vector<float>> reweigh(const dataset::Dataset& data) {
    if (data.group.size() != data.rows() || data.rows() == 0)
        return base::make_error(base::Reason::kNoGroups,
                                "to reweigh {} rows, each needs a protected group: name "
                                "protected columns in the schema",
                                data.rows());
    std::vector<std::array<double, 2>> cells(data.group_names.size());
    std::array<double, 2> labels{};
    double total = 0;
    for (size_t i = 0; i < data.rows(); ++i) {
        const auto w = static_cast<double>(data.weight_of(i));
        cells[static_cast<size_t>(data.group[i])][data.label[i]] += w;
        labels[data.label[i]] += w;
        total += w;
    }
    std::vector<float> weights(data.rows());
    for (size_t i = 0; i < data.rows(); ++i) {
        const auto& cell = cells[static_cast<size_t>(data.group[i])];
        weights[i] =
            static_cast<float>(static_cast<double>(data.weight_of(i)) * (cell[0] + cell[1]) *
                               labels[data.label[i]] / (total * cell[data.label[i]]));
    }
    return weights;
}

}  // namespace rampart::budro
