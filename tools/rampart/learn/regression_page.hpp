#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "rampart/dataset/dataset.hpp"
#include "rampart/fair_regression/loss.hpp"
#include "rampart/learning/learner.hpp"

/// What `rampart train` shows of fair regression beside its figures: how the scores that are served
/// are distributed.
namespace rampart::cli {

/// Returns [groups x levels]: P(score >= j / levels | group) at group · levels + j - 1 of what a
/// policy serves, by row weight.
std::vector<double> score_tails(const model::Policy& policy, const dataset::Dataset& data,
                                size_t levels);

struct RegressionPage {
    std::string data;  // the table and its split, for people
    const learning::Learned& learned;
    fair_regression::LabelRange range;
    std::vector<std::string> notes;
    std::vector<double> train_tails, validation_tails;  // empty: nothing is served
};
/// Returns HTML, one file.
std::string regression_page(const RegressionPage& page, const boost::json::object& detail);

}  // namespace rampart::cli
