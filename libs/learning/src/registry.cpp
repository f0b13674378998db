#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "category_statistics.hpp"
#include "learners.hpp"
#include "merged_categories.hpp"
#include "rampart/base/check.hpp"
#include "rampart/learning/reasons.hpp"

namespace rampart::learning {
namespace {

std::vector<const Learner*>& registered() {
    static std::vector<const Learner*> all;
    return all;
}

/// Adds the learners of the house.
bool add_own_learners() {
    for (const auto* learner :
         {&gbdt_learner(), &fairgbm_learner(), &exponentiated_gradient_learner(),
          &grid_search_learner(), &random_reweighing_learner(), &budro_learner(),
          &fair_regression_learner(), &regression_trees_learner()})
        add_learner(*learner);
    return true;
}

base::Error cannot(const Learner& learner, std::string_view what) {
    return base::make_error(Reason::kCannotLearn, "learner {}: {}", learner.name(), what);
}

/// Checks the rows; groups only where they are compared: one of them may be without rows elsewhere.
base::Status check_rows(const Learner& learner, const Capabilities& can, const Task& task) {
    const auto& train = task.train;
    if (train.numeric() ? !can.numbers : !can.labels)
        return cannot(learner, train.numeric() ? "it learns labels of two values, not numbers"
                                               : "it learns numbers, not labels of two values");
    if (!train.weight.empty() && !can.weights) return cannot(learner, "it takes no weights");
    if (can.groups && train.group.empty())
        return base::make_error(Reason::kNoProtectedAttributes,
                                "learner {} needs protected groups, and the rows have none: name "
                                "columns under `protected` in the schema",
                                learner.name());
    if (task.validation != nullptr && !(task.validation->schema == train.schema &&
                                        task.validation->group_names == train.group_names))
        return cannot(learner, "validation rows have other features or groups");
    if (task.start != nullptr && !can.resume)
        return cannot(learner, "it does not go on from a model");
    if (can.groups) return train.numeric() ? validate_numeric(train) : validate(train);
    auto alone = check_columns(train);
    if (!alone || train.rows() > 0) return alone;
    return cannot(learner, "there are no training rows");
}

base::Status check_options(const Learner& learner, const Capabilities& can,
                           const OptionValues& values) {
    for (const char* name : {"monotone", "interactions"})
        if (!can.monotone && values.has(name) && !values.texts(name).empty())
            return cannot(learner, fmt::format("with these options it keeps no {} constraints: "
                                               "leave {} out",
                                               name, name));
    return learner.check(values);
}

/// Checks that a linear model's equations fit into memory: each category has a column in them.
base::Status check_width(const Learner& learner, const dataset::FeatureSchema& schema) {
    constexpr size_t kMost = 16'384;
    size_t columns = 0;
    for (const auto& spec : schema.features())
        columns += std::max<size_t>(1, spec.categories.size());
    if (columns <= kMost) return base::ok();
    return cannot(learner,
                  fmt::format("linear models have a coefficient for each category and each numeric "
                              "feature, which are {} here; allowed are {}: leave features with "
                              "many categories out, or take oracle gbdt",
                              columns, kMost));
}

std::optional<CategoryStatistics> statistics_for(const Task& task, const OptionValues& values) {
    dataset::StatisticsParams params{.seed = task.seed};
    if (values.has("category_smooth")) params.smooth = values.number("category_smooth");
    if (values.has("min_category_rows"))
        params.min_rows = static_cast<size_t>(values.integer("min_category_rows"));
    return CategoryStatistics::create(task.train, static_cast<size_t>(values.integer("max_bins")),
                                      params);
}

/// Lets a learner see numbers in place of many categories.
base::Result<Learned> learn_by(const CategoryStatistics& statistics, const Task& task,
                               const std::function<base::Result<Learned>(const Task&)>& learn) {
    const auto train = statistics.training(task.train);
    std::optional<dataset::Dataset> validation;
    if (task.validation != nullptr) {
        if (const auto status = check_columns(*task.validation); !status)
            return status.error().with_context("validation set");
        validation = statistics.served(*task.validation);
    }
    const Task numbers{.train = train,
                       .validation = validation ? &*validation : nullptr,
                       .attributes = task.attributes,
                       .fair_metric = task.fair_metric,
                       .label_lo = task.label_lo,
                       .label_hi = task.label_hi,
                       .seed = task.seed,
                       .pool = task.pool,
                       .progress = task.progress,
                       .start = task.start};
    auto learned = learn(numbers);
    if (!learned) return learned;
    statistics.put_back(learned->link);
    for (auto& note : statistics.notes()) learned->notes.push_back(std::move(note));
    return learned;
}

}  // namespace

std::string_view to_string(Output output) {
    static constexpr std::array<std::string_view, 3> kTexts{"probability", "decision",
                                                            "drawn score"};
    return kTexts[static_cast<size_t>(output)];
}

void add_learner(const Learner& learner) {
    auto& all = registered();
    const bool known = std::any_of(
        all.begin(), all.end(), [&](const auto* other) { return other->name() == learner.name(); });
    RAMPART_CHECK(!known, "there is a learner {} already", learner.name());
    all.push_back(&learner);
}

std::span<const Learner* const> learners() {
    static const bool begun = add_own_learners();
    RAMPART_CHECK(begun, "no learners");
    return registered();
}

base::Result<const Learner*> find_learner(std::string_view name) {
    std::vector<std::string_view> names;
    for (const auto* learner : learners()) {
        if (learner->name() == name) return learner;
        names.push_back(learner->name());
    }
    return base::make_error(Reason::kUnknownLearner, "there is no learner '{}'; there are {}", name,
                            fmt::join(names, ", "));
}

base::Result<Learned> fit(const Learner& learner, const Task& task, const OptionValues& values) {
    auto learned = try_fit(learner, task, values);
    if (learned && learned->no_model) return *learned->no_model;
    return learned;
}

Kept both(const Kept& one, const Kept& other) {
    const auto joined = [](const std::string& a, const std::string& b) {
        return a + (a.empty() || b.empty() ? "" : "; ") + b;
    };
    Kept out = one.text.empty() ? other : one;
    if (!one.text.empty() && !other.text.empty())
        out = {std::max(one.most, other.most), std::max(one.beyond, other.beyond),
               joined(one.text, other.text)};
    out.not_measured = joined(one.not_measured, other.not_measured);
    return out;
}

base::Result<Learned> try_fit(const Learner& learner, const Task& task,
                              const OptionValues& values) {
    const auto can = learner.capabilities(values);
    RAMPART_RETURN_IF_ERROR(check_options(learner, can, values));
    RAMPART_RETURN_IF_ERROR(check_rows(learner, can, task));
    RAMPART_RETURN_IF_ERROR(
        learner.check_labels(values, {task.train.numeric(), task.label_lo, task.label_hi}));
    const bool linear = values.has("oracle") && values.text("oracle") == "linear";
    if (linear) RAMPART_RETURN_IF_ERROR(check_width(learner, task.train.schema));
    const bool trees = values.has("max_bins") && !linear;
    bool stopped = false;
    Task watched = task;
    watched.progress = [&](const Progress& progress) {
        stopped = stopped || (task.progress && !task.progress(progress));
        return !stopped;
    };
    // a fair metric compares categories, and a start's trees split them
    const auto statistics = trees && !can.attributes && task.start == nullptr
                                ? statistics_for(task, values)
                                : std::nullopt;
    if (statistics) RAMPART_RETURN_IF_ERROR(check_features(values, task.train.schema));
    auto learned =
        statistics ? learn_by(*statistics, watched,
                              [&](const Task& numbers) { return learner.learn(numbers, values); })
                   : learner.learn(watched, values);
    if (stopped)
        return base::make_error(Reason::kTrainingStopped, "the training by {} was stopped",
                                learner.name());
    if (learned && statistics && (can.groups || can.constrained) && task.validation == nullptr)
        learned->notes.push_back(
            "without validation rows, tolerances, operating points and the best iterate are judged "
            "on the training rows, whose ordered target statistics are not those that are served: "
            "give validation rows");
    if (!learned || !trees || statistics) return learned;
    for (auto& note :
         notes_of_merged_categories(task.train, static_cast<size_t>(values.integer("max_bins"))))
        learned->notes.push_back(std::move(note));
    return learned;
}

}  // namespace rampart::learning
