#pragma once

#include "reference/elf.hpp"
#include "support/logged_sample.hpp"

namespace rampart::reference {

struct Drawn {
    ElfSample sample;
    std::vector<std::vector<double>> columns;
};

/// Returns a log, split as the paper splits it.
inline Drawn draw(size_t n, double alpha, uint64_t seed) {
    auto drawn = test::draw_log(n, alpha, seed);
    auto tested = stratified_split(drawn.log.decisions.groups, n, 0.4, seed);
    return {{std::move(drawn.log), std::move(drawn.label), std::move(drawn.impact_range),
             std::move(tested)},
            std::move(drawn.columns)};
}

}  // namespace rampart::reference
