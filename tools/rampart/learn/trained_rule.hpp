#pragma once

#include "learn/postprocess_fit.hpp"
#include "learn/train_options.hpp"

namespace rampart::cli {

/// Puts the recipe's rule on a score that was just learnt. `fit`: rows that the trees have not
/// seen, with groups; `others`: the training rows. Errors: "no_groups"; those of
/// postprocess_link().
base::Result<Postprocessed> fit_rule(const TrainOptions& options, const TrainPlan& plan,
                                     const model::LearnedLink& link, const dataset::Dataset& fit,
                                     const dataset::Dataset& others, base::ThreadPool& pool);

}  // namespace rampart::cli
