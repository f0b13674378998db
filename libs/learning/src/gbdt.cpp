#include "learners.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rate_options.hpp"
#include "tree_options.hpp"

namespace rampart::learning {
namespace {

class Gbdt : public Learner {
  public:
    std::string_view name() const override { return "gbdt"; }
    std::string_view summary() const override {
        return "gradient-boosted trees on log loss; compares no groups";
    }
    std::string_view source() const override { return ""; }
    std::vector<Option> options() const override {
        auto options = tree_options();
        options.push_back(early_stopping_option());
        options.push_back(favourable_weight_option());
        for (auto& option : rate_options({}))
            if (option.name == "threshold" || option.name == "operate_at")
                options.push_back(std::move(option));
        return options;
    }
    Capabilities capabilities(const OptionValues&) const override { return {.resume = true}; }
    base::Status check(const OptionValues& values) const override {
        RAMPART_RETURN_IF_ERROR(check_trees(values));
        return operating_point(values) ? base::ok() : operating_point(values).error();
    }

  protected:
    base::Result<Learned> learn(const Task& task, const OptionValues& values) const override {
        RAMPART_TRY(const auto params, tree_params(values, task));
        RAMPART_TRY(const auto point, operating_point(values));
        gbdt::LogLoss objective(task.train, values.number("favourable_weight"));
        gbdt::TrainingOptions how{.progress = tree_progress(task)};
        RAMPART_TRY(how.start, start_of(task));
        if (params.early_stopping_rounds > 0) how.validation = task.validation;
        Learned out;
        RAMPART_TRY(out.link.ensemble, gbdt::train(task.train, objective, params, task.pool, how));
        RAMPART_TRY(const double threshold, threshold_on(point, out.link.ensemble, task));
        out.link.ramp = rule_at(threshold);
        out.figures = fmt::format("{{\"trees\":{}}}", out.link.ensemble.trees.size());
        return out;
    }
};

}  // namespace

const Learner& gbdt_learner() {
    static const Gbdt learner;
    return learner;
}

}  // namespace rampart::learning
