#pragma once

#include <functional>
#include <span>
#include <vector>

#include "rampart/base/thread_pool.hpp"
#include "rampart/budro/points.hpp"
#include "rampart/budro/train.hpp"
#include "rampart/budro/transport.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/gbdt/learner.hpp"

/// BuDRO where there are more than two answers: an ensemble for each class, whose scores f_c make
/// probabilities p_c = exp(f_c) / sum of exp(f). The loss of a person with answer c is -log p_c. In
/// each round one tree a class is grown; with m[c][i] the mass that the adversary sent to person i
/// with label c, M_i their sum over c, W the sum of the weights and K the number of classes:
///   g_i = W · (M_i · p_c - m[c][i]),   h_i = W · K/(K-1) · M_i · p_c · (1 - p_c)
/// so that with two classes it is train_budro() on the difference of their scores.
namespace rampart::reference {

struct BudroClassesParams {
    gbdt::LearnerParams learner;  // trees: rounds; early_stopping_rounds: 0
    budro::TransportParams transport;
    /// A round of plain boosting comes first, without which no move gains anything.
    bool plain_first = true;
    std::vector<double> class_weights = {};  // [classes] > 0, at most 1e6, in losses; empty: all 1
};

struct BudroClassesResult {
    std::vector<model::Ensemble> ensembles;  // by class
    std::vector<budro::BudroRound> rounds;  // figures of the models after 0 or 1, … trees a class
};

/// Trains an ensemble for each class. data: its labels are not read (they have to be 0 or 1).
/// labels: [n] in 0 … classes - 1. progress: called with each model; false ends the training.
/// Deterministic like train_budro().
/// Errors: those of gbdt::Bins, gbdt::train and TransportSolver; bad_budro_parameter, bad_size.
base::Result<BudroClassesResult> train_budro_classes(
    const dataset::Dataset& data, std::span<const uint8_t> labels, int classes,
    const budro::Points& points, const BudroClassesParams& params, base::ThreadPool* pool,
    const std::function<bool(const budro::BudroRound&)>& progress = {});

/// Computes the probabilities [classes] of one row's scores, [classes]; sums to 1 without overflow.
void softmax(std::span<const double> scores, std::span<double> probabilities);

}  // namespace rampart::reference
