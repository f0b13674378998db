#include "rampart/model/batch_policy.hpp"

#include <algorithm>
#include <optional>

#include "chain.hpp"
#include "mixture.hpp"
#include "rampart/base/check.hpp"

namespace rampart::model {
namespace {

constexpr size_t kRowsOfTask = 4096;

/// Calls f(first, end) for ranges that cover [0, n).
template <class Each>
void for_each_range(size_t n, base::ThreadPool* pool, Each each) {
    const size_t tasks = (n + kRowsOfTask - 1) / kRowsOfTask;
    const auto run = [&](size_t task) {
        each(task * kRowsOfTask, std::min(n, (task + 1) * kRowsOfTask));
    };
    if (pool != nullptr) return pool->run(tasks, run);
    for (size_t task = 0; task < tasks; ++task) run(task);
}

}  // namespace

/// What is laid out for each link.
struct BatchPolicy::Links {
    struct One {
        std::optional<BatchEngine> engine;                   // without members
        std::unique_ptr<const Mixture> mixture;              // with members
        std::unique_ptr<const GroupBlindAdjustments> pulls;  // where it has some
        size_t bootstrap_feature = 0;                        // index in the schema
    };
    std::vector<One> all;

    /// Adds a link to the outputs of the rows in [first, end).
    void add(const Policy& policy, size_t i, const TableView& table, std::span<const double> raw,
             std::span<const size_t> groups, std::span<PolicyOutput> out, size_t first,
             size_t end) const;
};

void BatchPolicy::Links::add(const Policy& policy, size_t i, const TableView& table,
                             std::span<const double> raw, std::span<const size_t> groups,
                             std::span<PolicyOutput> out, size_t first, size_t end) const {
    const One& laid = all[i];
    if (const auto* bootstrap = std::get_if<BootstrapLink>(&policy.links()[i])) {
        std::vector<float> values(end - first);
        table.copy(laid.bootstrap_feature, first, values);
        for (size_t r = first; r < end; ++r) begin_chain(out[r], *bootstrap, values[r - first]);
        return;
    }
    const auto& link = std::get<LearnedLink>(policy.links()[i]);
    const bool reads_row = laid.mixture || laid.pulls || link.strata;
    std::vector<float> row(table.features());
    for (size_t r = first; r < end; ++r) {
        for (size_t f = 0; reads_row && f < row.size(); ++f)
            table.copy(f, r, std::span(&row[f], 1));
        const size_t group = groups.empty() ? 0 : groups[r];
        if (laid.mixture) {
            const auto mixed = laid.mixture->evaluate(row, group);
            add_link(out[r], link, i == 0, {mixed.score, mixed.approve});
        } else {
            add_link(out[r], link, i == 0, step_of(link, raw[r], laid.pulls.get(), row, group));
        }
    }
}

BatchPolicy::BatchPolicy(const Policy& policy) : policy_(&policy) {
    auto links = std::make_unique<Links>();
    for (const auto& link : policy.links()) {
        auto& laid = links->all.emplace_back();
        if (const auto* bootstrap = std::get_if<BootstrapLink>(&link)) {
            laid.bootstrap_feature = *policy.schema().find(bootstrap->feature);
            continue;
        }
        const auto& learned = std::get<LearnedLink>(link);
        if (learned.members.empty()) {
            laid.engine.emplace(learned.ensemble);
        } else {
            laid.mixture = std::make_unique<const Mixture>(learned);
        }
        if (!learned.adjustments.empty())
            laid.pulls = std::make_unique<const GroupBlindAdjustments>(learned.adjustments);
    }
    links_ = std::move(links);
}
BatchPolicy::~BatchPolicy() = default;
BatchPolicy::BatchPolicy(BatchPolicy&&) noexcept = default;

void BatchPolicy::evaluate(const TableView& table, std::span<const size_t> groups,
                           std::span<PolicyOutput> out, base::ThreadPool* pool) const {
    const size_t n = table.rows();
    RAMPART_CHECK(table.features() == policy_->schema().size() && out.size() == n,
                  "{} features and {} outputs for {} and {} rows", table.features(), out.size(),
                  policy_->schema().size(), n);
    RAMPART_CHECK(groups.size() == (policy_->group_aware() ? n : 0), "{} groups for {} rows",
                  groups.size(), n);
    std::vector<double> raw(n);
    for (size_t i = 0; i < policy_->links().size(); ++i) {
        if (const auto& engine = links_->all[i].engine) engine->predict_raw(table, raw, pool);
        for_each_range(n, pool, [&](size_t first, size_t end) {
            links_->add(*policy_, i, table, raw, groups, out, first, end);
        });
    }
}

void BatchPolicy::evaluate_between(const TwoRows& two, std::optional<size_t> group,
                                   std::span<PolicyOutput> out) const {
    const size_t n = two.count();
    RAMPART_CHECK(two.row.size() == policy_->schema().size() && out.size() == n,
                  "{} features and {} outputs for {} and {} rows", two.row.size(), out.size(),
                  policy_->schema().size(), n);
    RAMPART_CHECK(group.has_value() == policy_->group_aware(), "a group, or none, for the policy");
    const auto rows = two.rows();
    const auto table = TableView::row_major(rows, two.row.size());
    const std::vector<size_t> groups(group ? n : 0, group.value_or(0));
    std::vector<double> raw(n);
    for (size_t i = 0; i < policy_->links().size(); ++i) {
        if (links_->all[i].engine)
            predict_between(std::get<LearnedLink>(policy_->links()[i]).ensemble, two, raw);
        links_->add(*policy_, i, table, raw, groups, out, 0, n);
    }
}

}  // namespace rampart::model
