#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/candidate_selection/safety_objective.hpp"
#include "rampart/numeric/cma_es.hpp"
#include "reference/parametric_policy.hpp"

namespace rampart::reference {

/// ELF (Weber et al. 2022, Algorithms 1 to 4) for a log of one behaviour policy beta and any
/// parametric policy: split, candidate selection on D_c, one test a group on D_f, theta or "no
/// solution found".
///
///                 paper_compat (as printed)              rampart
///   estimate      tau - (pi/beta) I, tau = mean of       paired difference to beta, centred by the
///                 the log's impacts, as a constant       group's mean impact by action in D_c
///   candidates    all theta                              |pi - beta| <= kappa min(beta, 1 - beta)
///   prediction    widths with the size of ALL of D_f,    the group's own size; room for both
///   samples'
///                 times 2                                errors
///   failing cost  loss_max + sum of the bounds           loss_max + the weakest group's signal
///   test          t or Hoeffding; accepts at U <= 0      constant bets fixed on D_c, wealth at the
///                                                        end; or t
/// Printed, and not done in either: Algorithm 3 tests on all of D (then selection leaks into the
/// test; the proof and Algorithm 1 want D_f); "bounds of g" for Hoeffding's range (it needs those
/// of the estimates); a pass without variance. NaN anywhere: no solution.
///
/// This is the whole algorithm on arrays, for comparison and for studies. Live decisions go through
/// rampart::certification, which also registers, charges and signs.

struct ElfSample {
    /// reference is beta again, each record's impact present, one record a person. `candidate` is
    /// not read.
    ope::LoggedFeedback log;
    std::vector<uint8_t> label;              // [n]: what accuracy is measured by
    std::vector<stats::Range> impact_range;  // declared [a, b], by group
    std::vector<uint8_t> tested;             // [n] 1: D_f, 0: D_c
};

/// 1 for the share of each group that is held out for the test, chosen by seed; a record in several
/// groups is in the part that the first of them puts it in. The paper: 0.4.
std::vector<uint8_t> stratified_split(std::span<const ope::Group> groups, size_t records,
                                      double tested_share, uint64_t seed);

struct ElfOptions {
    bool paper_compat = false;
    stats::BoundMethod bound = stats::BoundMethod::kBetting;  // kBetting is for rampart mode
    double delta = 0.1;                                       // error probability of each group
    double kappa = 0.5;                                       // rampart: (0, 1]
    double power = 0.999;  // rampart: what D_c has to predict before accuracy counts
    double xi = 0;         // paper_compat, appendix E
    std::optional<double> accuracy_floor{};  // paper_compat: section 5's extra constraint
    numeric::CmaEsOptions search;
    /// Where the search begins; empty: theta = 0.
    std::vector<std::vector<double>> starts{};
    /// D_c's first rows of each group, in these proportions, for the search alone. 0: all.
    size_t max_selection_rows = 0;
    /// With max_selection_rows: so many further evaluations on all of D_c, from what the search
    /// found and a quarter of its scale. 0: none.
    size_t refine_evaluations = 0;
};

struct ElfTest {
    std::string name;
    size_t records = 0;
    double mean = 0;     // mean of g-hat on the vault
    double upper = 0;    // U; with bets: -(ln wealth - ln 1/delta), <= 0 alike when it passes
    double upper_t = 0;  // U by t whatever the bound; indicative beside another
    bool passed = false;
};

struct ElfResult {
    std::optional<std::vector<double>> theta;   // none: NSF
    std::vector<double> candidate;              // theta_c
    candidate_selection::Prediction predicted;  // on the rows of D_c that the search saw last
    std::vector<ElfTest> tests;                 // by constraint
    size_t evaluations = 0;
};

/// `policy` is on the sample's rows. In rampart mode P(approve) is approve() moved into the trust
/// region. Deterministic by search.seed. Errors (invalid_argument "bad_elf", "bad_objective",
/// "bad_search"): shapes, missing impacts, a group with fewer than two records in D_c or D_f.
base::Result<ElfResult> run_elf(const ElfSample& sample, const ParametricPolicy& policy,
                                const ElfOptions& options,
                                const numeric::Cancelled& cancelled = {});

}  // namespace rampart::reference
