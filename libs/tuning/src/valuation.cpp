#include "rampart/tuning/valuation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rampart/evaluation/table_digest.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/tuning/reasons.hpp"

namespace rampart::tuning {
namespace {

using base::Result;
using learning::OptionValues;

/// Returns P(favourable) of the rows by one ensemble.
std::vector<double> probabilities(const model::Ensemble& ensemble, const dataset::Dataset& data) {
    std::vector<double> p(data.rows());
    model::BatchEngine(ensemble).predict_raw(model::TableView::of(data), p);
    for (double& one : p) one = model::sigmoid(one);
    return p;
}

postprocessing::Rows scored(const model::Ensemble& ensemble, const dataset::Dataset& data) {
    return {.p = probabilities(ensemble, data),
            .group = data.group.empty() ? std::vector<int32_t>(data.rows(), -1) : data.group,
            .group_names = data.group_names,
            .label = data.label,
            .weight = data.weight};
}

double log_loss(double raw, bool favourable) {
    const double margin = favourable ? raw : -raw;
    return margin > 0 ? std::log1p(std::exp(-margin)) : std::log1p(std::exp(margin)) - margin;
}

/// Returns the error of a score that is drawn among those.
double squared_error(std::span<const model::ScoreMass> scores, double label) {
    double sum = 0;
    for (const auto& one : scores) sum += one.weight * (one.score - label) * (one.score - label);
    return sum;
}

}  // namespace

/// The rows of one training.
struct Valuation::Parts {
    dataset::Dataset train, validation, valued;
};

Valuation::Valuation(ValuationInputs inputs, const Plan& plan)
    : in_(std::move(inputs)), plan_(plan) {
    const uint64_t seed = plan.seed.value_or(in_.seed);
    const auto key = [&](std::string_view what) { return fmt::format("search {} {}", what, seed); };
    const auto fold = key("fold"), validation = key("validation"), order = key("order");
    const auto folds = static_cast<size_t>(plan.folds);
    for (const auto& person : in_.persons) {
        const double u = base::keyed_uniform(fold, person);
        fold_.push_back(std::min(folds - 1, static_cast<size_t>(u * static_cast<double>(folds))));
        held_out_.push_back(base::keyed_uniform(validation, person) < in_.validation);
        order_.push_back(base::keyed_uniform(order, person));
    }
    if (in_.options.has("threshold"))
        threshold_ = in_.options.number("threshold");
    else if (in_.slope > 0)
        threshold_ = std::clamp(-in_.intercept / in_.slope, 1e-6, 1 - 1e-6);
    if (in_.options.has("favourable_weight"))
        favourable_weight_ = in_.options.number("favourable_weight");
}

Setting Valuation::own() const { return setting_of(plan_, in_.options, in_.postprocess); }

std::string_view Valuation::resource() const {
    return in_.options.has("trees") ? "trees" : "persons";
}

bool Valuation::by_decisions() const {
    return in_.postprocessor->needs(in_.postprocess).any() ||
           in_.learner->capabilities(in_.options).output == learning::Output::kDecision;
}

bool Valuation::by_score() const {
    return in_.rows.numeric() ||
           in_.learner->capabilities(in_.options).output == learning::Output::kDrawnScore;
}

std::string_view Valuation::score() const {
    if (by_score()) return "squared error";
    return by_decisions() ? "cost of decisions" : "log loss";
}

std::vector<uint32_t> Valuation::rows_of(size_t fold) const {
    std::vector<uint32_t> out;
    for (uint32_t i = 0; i < fold_.size(); ++i)
        if (fold_[i] == fold) out.push_back(i);
    return out;
}

Result<Valuation::Parts> Valuation::parts_of(double share, size_t fold) const {
    const double persons = in_.options.has("trees") ? 1 : share;
    std::vector<uint32_t> train, validation;
    for (uint32_t i = 0; i < fold_.size(); ++i)
        if (fold_[i] != fold && order_[i] < persons)
            (held_out_[i] != 0 ? validation : train).push_back(i);
    Parts parts{in_.rows.subset(train), in_.rows.subset(validation),
                in_.rows.subset(rows_of(fold))};
    const bool judged = in_.validation == 0 || parts.validation.rows() > 0;
    if (parts.train.rows() == 0 || parts.valued.rows() == 0 || !judged)
        return base::make_error(Reason::kNoTrial,
                                "fold {} of {}: {} rows to learn from, {} held out of that, {} to "
                                "value: give fewer folds or more persons",
                                fold + 1, plan_.folds, parts.train.rows(), parts.validation.rows(),
                                parts.valued.rows());
    return parts;
}

Result<learning::Learned> Valuation::learn(const Parts& parts, const OptionValues& options) const {
    learning::Task task{.train = parts.train,
                        .attributes = in_.attributes,
                        .label_lo = in_.label_lo,
                        .label_hi = in_.label_hi,
                        .seed = in_.seed};
    if (in_.validation > 0) task.validation = &parts.validation;
    task.progress = [&](const learning::Progress&) { return !(in_.stopped && in_.stopped()); };
    return learning::fit(*in_.learner, task, options);
}

/// Returns P(approve) of the valued rows by the post-processor's rule, fitted on the validation
/// rows.
Result<std::vector<double>> Valuation::by_rule(const Parts& parts, const model::LearnedLink& link,
                                               const OptionValues& options,
                                               const OptionValues& post) const {
    const auto needs = in_.postprocessor->needs(post);
    postprocessing::GroupModel groups;
    auto fitted_on = scored(link.ensemble, parts.validation);
    auto decided = scored(link.ensemble, parts.valued);
    RAMPART_RETURN_IF_ERROR(postprocessing::add_strata(post, parts.validation, fitted_on));
    RAMPART_RETURN_IF_ERROR(postprocessing::add_strata(post, parts.valued, decided));
    if (!needs.group_model.empty()) {
        RAMPART_TRY(groups, postprocessing::learn_groups(parts.train, needs.group_model,
                                                         post.integer("group_trees"), nullptr));
        add_posteriors(groups, parts.validation, nullptr, fitted_on);
        add_posteriors(groups, parts.valued, nullptr, decided);
    }
    RAMPART_TRY(auto setting, postprocessing::setting_on(link, options, in_.slope, in_.intercept));
    setting.seed = in_.seed;
    RAMPART_TRY(const auto fitted,
                postprocessing::fit(*in_.postprocessor, fitted_on, post, setting));
    return fitted.rule.approve(decided, groups);
}

/// Returns the log loss of each valued row by one ensemble; P(approve) where decisions count; of a
/// drawn score the squared error.
Result<std::vector<double>> Valuation::by_link(const dataset::Dataset& valued,
                                               const model::LearnedLink& link) const {
    std::vector<double> out(valued.rows());
    if (!by_score() && !by_decisions()) {
        model::BatchEngine(link.ensemble).predict_raw(model::TableView::of(valued), out);
        for (size_t i = 0; i < out.size(); ++i) out[i] = log_loss(out[i], valued.label[i] == 1);
        return out;
    }
    RAMPART_TRY(const auto policy, model::Policy::create(valued.schema, {link}, {}, {}));
    std::vector<float> row(valued.columns.size());
    const double width = in_.label_hi - in_.label_lo;
    for (size_t i = 0; i < out.size(); ++i) {
        valued.copy_row(i, row);
        const double label = valued.numeric() ? (valued.target[i] - in_.label_lo) / width
                                              : static_cast<double>(valued.label[i]);
        out[i] = by_score() ? squared_error(policy.scores(row, std::nullopt), label)
                            : policy.evaluate(row, std::nullopt).approve;
    }
    return out;
}

Result<FoldValue> Valuation::value(const Setting& setting, double share, size_t fold) const {
    auto options = in_.options;
    auto post = in_.postprocess;
    RAMPART_RETURN_IF_ERROR(apply(plan_, setting, options, post));
    RAMPART_RETURN_IF_ERROR(in_.postprocessor->check(post));
    if (options.has("trees"))
        RAMPART_RETURN_IF_ERROR(options.set(
            "trees", static_cast<int64_t>(std::ceil(share * options.integer("trees")))));
    RAMPART_TRY(const auto parts, parts_of(share, fold));
    RAMPART_TRY(const auto learned, learn(parts, options));
    const auto& link = learned.link;
    const auto& valued = parts.valued;
    FoldValue out{.excess = learned.excess};
    std::vector<double> losses;
    if (in_.postprocessor->needs(post).any()) {
        RAMPART_TRY(out.approve, by_rule(parts, link, options, post));
    } else {
        RAMPART_TRY(losses, by_link(valued, link));
        if (!by_score() && by_decisions()) out.approve = std::exchange(losses, {});
    }
    for (size_t i = 0; i < out.approve.size(); ++i)
        losses.push_back(valued.label[i] == 1 ? (1 - threshold_) * (1 - out.approve[i])
                                              : threshold_ * out.approve[i]);
    for (size_t i = 0; i < losses.size(); ++i) {
        const double favourable =
            !valued.numeric() && valued.label[i] == 1 ? favourable_weight_ : 1;
        const double weight = static_cast<double>(valued.weight_of(i)) * favourable;
        out.loss += weight * losses[i];
        out.weight += weight;
    }
    return out;
}

Result<double> Valuation::excess(const Setting& setting, std::span<const FoldValue> folds) const {
    auto options = in_.options;
    auto post = in_.postprocess;
    RAMPART_RETURN_IF_ERROR(apply(plan_, setting, options, post));
    postprocessing::Rows rows{.p = {}, .group = {}, .group_names = in_.rows.group_names};
    std::vector<double> approve;
    std::vector<uint32_t> order;
    for (size_t fold = 0; fold < folds.size(); ++fold) {
        const auto of_fold = rows_of(fold);
        order.insert(order.end(), of_fold.begin(), of_fold.end());
        const auto part = in_.rows.subset(of_fold);
        rows.p.resize(rows.p.size() + part.rows());  // a criterion is about decisions, not scores
        rows.group.insert(rows.group.end(), part.group.begin(), part.group.end());
        rows.label.insert(rows.label.end(), part.label.begin(), part.label.end());
        rows.weight.insert(rows.weight.end(), part.weight.begin(), part.weight.end());
        approve.insert(approve.end(), folds[fold].approve.begin(), folds[fold].approve.end());
    }
    RAMPART_RETURN_IF_ERROR(postprocessing::add_strata(post, in_.rows.subset(order), rows));
    RAMPART_TRY(const auto kept, in_.postprocessor->measure(rows, approve, post));
    return kept.beyond;
}

Problem Valuation::problem() const {
    Problem out{.value = [this](const Setting& setting, double share, size_t fold) {
        return value(setting, share, fold);
    }};
    if (in_.postprocessor->needs(in_.postprocess).groups)
        out.excess = [this](const Setting& setting, std::span<const FoldValue> folds) {
            return excess(setting, folds);
        };
    return out;
}

base::Digest Valuation::digest() const {
    base::Sha256 hash;
    for (const auto& text :
         {to_toml(plan_), std::string(in_.learner->name()), in_.options.canonical(),
          std::string(in_.postprocessor->name()), in_.postprocess.canonical(),
          fmt::format("{} {} {} {} {} {}", in_.validation, in_.slope, in_.intercept, in_.label_lo,
                      in_.label_hi, in_.seed),
          fmt::format("{}", in_.options.has("threshold") && in_.options.given("threshold")),
          evaluation::digest_of(in_.rows).hex()})
        hash.update_field(text);
    for (const auto& attribute : in_.attributes) hash.update_field(attribute);
    for (const auto& person : in_.persons) hash.update_field(person);
    return hash.finish();
}

Result<Found> search(const Valuation& valuation, const Host& host, base::ThreadPool* pool) {
    const auto of = valuation.digest();
    Conduct conduct{.pool = pool, .seconds = host.seconds, .progress = host.progress};
    if (host.kept) {
        RAMPART_TRY(const auto text, host.kept(of));
        if (!text.empty()) {
            RAMPART_TRY(conduct.kept, decode(of, text));
        }
    }
    if (host.keep)
        conduct.keep = [&](std::span<const Trial> trials) {
            return host.keep(of, encode(of, trials));
        };
    return search(valuation.plan(), valuation.own(), valuation.seed(), valuation.problem(),
                  conduct);
}

std::string describe(const Valuation& valuation, const Found& found) {
    const auto& plan = valuation.plan();
    return fmt::format("{}, {} trials, {} folds by person; taken: setting {}, {}",
                       to_string(plan.method), found.trials.size(), plan.folds, found.number,
                       describe(found.best, valuation.resource(), valuation.score()));
}

}  // namespace rampart::tuning
