#include "learn/trained_rule.hpp"

#include "rampart/base/reasons.hpp"

namespace rampart::cli {

base::Result<Postprocessed> fit_rule(const TrainOptions& options, const TrainPlan& plan,
                                     const model::LearnedLink& link, const dataset::Dataset& fit,
                                     const dataset::Dataset& others, base::ThreadPool& pool) {
    if (fit.group.empty())
        return base::make_error(
            base::Reason::kNoGroups,
            "the ramp needs protected groups: name columns under `protected` in {}",
            options.schema);
    RAMPART_TRY(const auto chosen, training::chosen_postprocessor(plan.recipe));
    RAMPART_TRY(const auto at, postprocessing::setting_on(link, plan.values(), link.score_slope,
                                                          link.score_intercept));
    auto made = postprocess_link(link, fit, others,
                                 {.postprocessor = chosen.postprocessor,
                                  .values = chosen.values,
                                  .search_gamma = false,
                                  .seed = options.seed,
                                  .threshold = at.threshold,
                                  .operate_at = at.operate_at},
                                 pool);
    if (!made) return made.error().with_context("the ramp on the validation rows");
    return made;
}

}  // namespace rampart::cli
