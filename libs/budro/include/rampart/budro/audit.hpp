#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/budro/transport.hpp"

/// How much the loss of a model can grow between similar individuals (Vargo et al. 2021, section
/// 3): the certificate of individual fairness of any model, from its score of each row alone.
///
/// The robust loss L(f) (eq. 2.5) is the mean loss when every row keeps its label and may get the
/// score of a similar row, at most epsilon of squared fair distance away in the mean. The
/// performance gap (eq. 3.2) is L(f) - mean loss; 0 says that alike people are treated alike. The
/// dual solution proves it: no transport within the budget exceeds `bound`.
namespace rampart::budro {

enum class AuditLoss {
    kLog,       // log loss of the score P(label 1), kept 1e-12 away from 0 and 1
    kDecision,  // P(decided against the label): answers are P(approve)
};

struct IndividualAuditParams {
    TransportParams transport = {};  // epsilon; the method has to be kExact
    AuditLoss loss = AuditLoss::kLog;
    size_t most_pairs = 20;  // 0 … 10'000
};

struct AuditedRows {
    const Points* points = nullptr;
    std::span<const uint8_t> labels;  // [n] 0 or 1
    std::span<const double> answers;  // [n] in [0, 1]: scores, or P(approve)
    std::span<const double> weights;  // [n] > 0, or empty
};

/// The worst transport answers `person` as it does `other`, who is alike.
struct TreatedDifferently {
    uint32_t person = 0, other = 0;  // rows
    double mass = 0;                 // share of all mass, in [0, 1]
    double squared_distance = 0;
    double loss = 0,
           other_loss = 0;  // losses of the row's label, by its own and by the other row's score
    double excess() const { return mass * (other_loss - loss); }
};

struct IndividualAudit {
    double loss = 0, robust_loss = 0;
    double bound = 0;  // no transport within the budget has a greater loss
    double eta = 0;    // what one more unit of squared distance would add; infinity if epsilon is 0
    double budget = 0, cost = 0;            // mean squared distance allowed, and used
    double moved = 0;                       // share of people whom another's answer would harm
    size_t pairs = 0;                       // how many such pairs there are
    std::vector<TreatedDifferently> worst;  // by excess, the largest first; then by rows

    double performance_gap() const { return robust_loss - loss; }
    double gap_at_most() const { return bound - loss; }  // proven
};

/// Audits the rows. Deterministic, whatever the number of threads. Errors: those of
/// TransportSolver; "bad_answer" names a row; "bad_audit_parameter".
base::Result<IndividualAudit> audit_individual(const AuditedRows& rows,
                                               const IndividualAuditParams& params,
                                               base::ThreadPool* pool);

}  // namespace rampart::budro
