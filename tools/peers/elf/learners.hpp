#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/peers/elf/population.hpp"

namespace rampart::peer_elf {

/// What a learner returned, as seen by the judge; nullopt: no solution found.
using Decisions = std::optional<std::vector<double>>;

/// How hard the searches work.
struct Effort {
    size_t evaluations = 150;      // of the cost, a search
    size_t selection_rows = 1536;  // of D_c that a search looks at
    size_t paper_refine = 50;      // evaluations on all of D_c that the paper's search gets on top
    double power = 0.999;          // that ours asks of D_c before accuracy counts
    size_t fairgbm_rows = 8192;    // of D that FairGBM learns from
};

/// A draw with what does not depend on alpha made once.
class Trial {
  public:
    Trial(Draw draw, const Judge& judge, const Effort& effort, uint64_t seed);

    /// As printed, with the t bound and the accuracy floor of section 5.
    Decisions elf_paper(double alpha);
    /// Ours: chosen for the betting bound, and tested by it; and the same candidate tested by t.
    struct Ours {
        Decisions betting, t;
    };
    Ours rampart(double alpha);
    Decisions logistic_regression() const;  // threshold 1/2, on all of D
    Decisions ramp() const;                 // over logistic regression's scores: rates within 0.02
    Decisions fairgbm() const;              // error rates within 0.05, threshold 1/2

  private:
    candidate_selection::ElfOptions options() const;
    std::vector<double> judged(const candidate_selection::ParametricPolicy& policy,
                               const std::vector<double>& theta, bool trust_region) const;

    Draw draw_;
    const Judge& judge_;
    const Effort& effort_;
    uint64_t seed_;
    std::optional<candidate_selection::LogisticPolicy> plain_, stepped_, judge_plain_,
        judge_stepped_;
    std::vector<std::vector<double>> paper_starts_;
    std::vector<double> regression_;  // theta on all of D
};

}  // namespace rampart::peer_elf
