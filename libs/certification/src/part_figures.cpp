#include "part_figures.hpp"

#include <cmath>

#include "measure.hpp"
#include "mirror.hpp"

namespace rampart::certification {
namespace {

using base::Result;

/// Values of the persons of each group in each part: the halves, then the loggers.
class PartValues {
  public:
    explicit PartValues(const RunPlan& plan)
        : plan_(&plan), cells_((2 + plan.logger_ids.size()) * plan.groups.size()) {
        for (const GroupPlan& group : plan.groups)
            models_.push_back(impact_model(plan.config, group));
    }

    base::Status read(const VaultSource& feedback) {
        RAMPART_RETURN_IF_ERROR(feedback.read([&](std::span<const VaultRecord> block) {
            for (const VaultRecord& record : block) add(record);
            return base::ok();
        }));
        close_unit();
        return base::ok();
    }

    bool has_halves() const { return has_halves_; }
    size_t records(size_t part, size_t group) const { return cell(part, group).records; }
    stats::Moments moments(size_t part, size_t group) const {
        return stats::moments(cell(part, group).values);
    }

  private:
    struct Cell {
        size_t records = 0;
        std::optional<double> open{};  // value of the person who is being read
        std::vector<double> values{};
    };
    const Cell& cell(size_t part, size_t group) const {
        return cells_[part * plan_->groups.size() + group];
    }

    void add(const VaultRecord& r) {
        if (unit_ != r.unit) close_unit();
        unit_ = r.unit;
        has_halves_ = has_halves_ || r.second_half;
        for (size_t g = 0; g < plan_->groups.size(); ++g) {
            const GroupPlan& group = plan_->groups[g];
            if ((r.groups >> group.index & 1) == 0) continue;
            ope::Record record = estimate_of(r, group.against);
            if (r.has_impact) record.impact = r.impact;
            const double value = record_value(plan_->config, group, record, models_[g]);
            for (const size_t part : {size_t{r.second_half}, size_t{2} + r.logger}) {
                const size_t at = part * plan_->groups.size() + g;
                Cell& cell = cells_[at];
                ++cell.records;
                if (!cell.open) open_.push_back(at);
                cell.open = cell.open.value_or(0) + value;
            }
        }
    }

    void close_unit() {
        for (const size_t at : open_) {
            cells_[at].values.push_back(*cells_[at].open);
            cells_[at].open.reset();
        }
        open_.clear();
    }

    const RunPlan* plan_;
    std::vector<Cell> cells_;
    std::vector<ope::ImpactModel> models_;
    std::vector<size_t> open_;
    std::optional<Pseudonym> unit_;
    bool has_halves_ = false;
};

std::optional<double> finite(double x) {
    return std::isfinite(x) ? std::optional(x) : std::nullopt;
}

}  // namespace

Result<std::vector<PartEffect>> part_effects(const RunPlan& plan, const RunPlan& opposite,
                                             const VaultSource& feedback) {
    PartValues worst(plan);
    RAMPART_RETURN_IF_ERROR(worst.read(feedback));
    PartValues best(opposite);
    RAMPART_RETURN_IF_ERROR(best.read(MirroredVault(feedback)));
    std::vector<PartEffect> out;
    const size_t loggers = plan.logger_ids.size();
    const double level = plan.config.delta_epoch / 2;
    for (size_t part = 0; part < 2 + loggers; ++part) {
        if (part < 2 ? !worst.has_halves() : loggers < 2) continue;
        for (size_t g = 0; g < plan.groups.size(); ++g) {
            const stats::Moments sample = worst.moments(part, g);
            const size_t records = worst.records(part, g);
            const auto per_record = [&](double bound) {
                return finite(bound * static_cast<double>(sample.n) / static_cast<double>(records) -
                              plan.config.margin);
            };
            out.push_back(
                {.part = part == 0   ? "first half"
                         : part == 1 ? "second half"
                                     : plan.logger_ids[part - 2],
                 .group = plan.groups[g].name,
                 .records = records,
                 .persons = sample.n,
                 .estimate = per_record(sample.mean),
                 .lower = per_record(stats::t_lower_bound(sample, level)),
                 .upper = per_record(-stats::t_lower_bound(best.moments(part, g), level))});
        }
    }
    return out;
}

}  // namespace rampart::certification
