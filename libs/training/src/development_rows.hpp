#pragma once

#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::training {

/// Returns the rows of the set whose index `takes` accepts.
template <class Takes>
training_set::DevelopmentSet part_of(const training_set::DevelopmentSet& development,
                                     const Takes& takes) {
    training_set::DevelopmentSet part;
    part.as_known_at = development.as_known_at;
    part.schema = development.schema;
    part.retired = development.retired;
    part.group_names = development.group_names;
    part.cell_names = development.cell_names;
    part.extent = development.extent;
    for (size_t i = 0; i < development.rows.size(); ++i) {
        if (!takes(i)) continue;
        const auto features = development.features_of(i);
        part.rows.push_back(development.rows[i]);
        part.features.insert(part.features.end(), features.begin(), features.end());
    }
    return part;
}

}  // namespace rampart::training
