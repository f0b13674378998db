#include "learn/regression_frontier.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

#include "frame/reasons.hpp"
#include "learn/frontier_trials.hpp"
#include "learn/regression_train.hpp"
#include "learn/result_file.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/random.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/evaluation/table_digest.hpp"
#include "rampart/fair_regression/baselines.hpp"
#include "rampart/fair_regression/loss_names.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/reductions/train.hpp"
#include "rampart/report/text_table.hpp"
#include "rampart/runtime/shutdown.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
using base::Result;
using fair_regression::LevelRows;
using fair_regression::RegressionTable;

constexpr size_t kResamples = 400;
constexpr std::string_view kHeader =
    "learner,number,epsilon,train_loss,train_disparity,test_loss,test_loss_lo,test_loss_hi,"
    "test_disparity,test_disparity_lo,test_disparity_hi,members,seconds";
constexpr std::string_view kLinearSuffix = "-linear";

/// What is learnt from and judged on, read once.
struct Data {
    TableParts parts;
    RegressionTable train, test;
    std::string line;  // identifies this run
};

/// What a predictor says of rows, as levels.
struct LevelMember {
    double weight;
    std::vector<uint8_t> train, test;
};

class Bench {
  public:
    Bench(const RegressionFrontier& job, const RegressionJob& settings, const Data& data,
          base::ThreadPool& pool, WatchedOracle::Progress progress)
        : job_(job),
          settings_(settings),
          data_(data),
          pool_(pool),
          progress_(std::move(progress)) {}

    Result<std::vector<LevelMember>> learn(const std::string& learner, double epsilon) const {
        if (learner == "seo") return seo();
        if (learner == "fair-classification") return classification(epsilon);
        RegressionJob job = settings_;
        job.linear = learner.ends_with(kLinearSuffix);
        job.statistical_parity.epsilon = {epsilon};
        RAMPART_TRY(const auto oracle,
                    WatchedOracle::create(job, data_.parts.train, nullptr, pool_, progress_));
        if (learner.starts_with("unconstrained")) {
            RAMPART_TRY(const auto fit,
                        fair_regression::fit_unconstrained(data_.train.rows(), job.loss, *oracle));
            return std::vector{member(fit.model, 1)};
        }
        RAMPART_TRY(const auto fit, fair_regression::fit_parity(data_.train.rows(), job.loss,
                                                                job.statistical_parity, *oracle));
        std::vector<LevelMember> out;
        for (const auto& one : fit.members) out.push_back(member(one.model, one.weight));
        return out;
    }

  private:
    std::vector<uint8_t> levels(const std::vector<double>& u) const {
        return fair_regression::levels_of(u, settings_.statistical_parity.levels);
    }
    LevelMember member(const reductions::OracleModel& model, double weight) const {
        return {weight, levels(reductions::predict(model, data_.parts.train, &pool_)),
                levels(reductions::predict(model, data_.parts.test, &pool_))};
    }

    Result<std::vector<LevelMember>> seo() const {
        RAMPART_TRY(const auto model,
                    fair_regression::fit_seo(data_.parts.train, data_.train.rows()));
        return std::vector{member(model, 1)};
    }

    /// The score whose probability the member says.
    std::vector<double> unit_scores(const model::Ensemble& ensemble,
                                    const dataset::Dataset& rows) const {
        std::vector<double> out(rows.rows());
        model::BatchEngine(ensemble).predict_raw(model::TableView::of(rows), out, &pool_);
        const bool logistic = settings_.loss.kind() == fair_regression::LossKind::kLogistic;
        for (double& raw : out)
            raw = logistic ? (1 + raw / settings_.loss.parameter()) / 2 : model::sigmoid(raw);
        return out;
    }

    Result<std::vector<LevelMember>> classification(double epsilon) const {
        if (!progress_(0))
            return base::make_error(Reason::kInterrupted, "the frontier was interrupted");
        reductions::ReductionParams params;
        params.learner = settings_.trees;
        RAMPART_TRY(params.constraints.parity, fairness::parse_parity(kStatisticalParity, epsilon));
        params.fits = job_.reduction_fits;
        params.seed = settings_.trees.seed;
        RAMPART_TRY(const auto fit,
                    reductions::train_reduction(data_.parts.train, params, &pool_, {}));
        std::vector<LevelMember> out;
        for (const auto& one : fit.members)
            out.push_back({one.weight, levels(unit_scores(one.ensemble, data_.parts.train)),
                           levels(unit_scores(one.ensemble, data_.parts.test))});
        return out;
    }

    const RegressionFrontier& job_;
    const RegressionJob& settings_;
    const Data& data_;
    base::ThreadPool& pool_;
    WatchedOracle::Progress progress_;
};

struct Figures {
    double loss = 0, disparity = 0;
};

/// Computes loss and disparity of rows with multiplicities, with the loss of a level and a label.
class Judge {
  public:
    Judge(const RegressionTable& table, const fair_regression::RegressionLoss& loss, int levels)
        : table_(table), levels_(static_cast<size_t>(levels)) {
        for (size_t i = 0; i < table.label.size(); ++i)
            for (int k = 0; k <= levels; ++k)
                losses_.push_back(static_cast<float>(
                    loss.value(table.label[i], fair_regression::middle_of(k, levels))));
    }

    Figures judge(const std::vector<LevelMember>& members,
                  const std::vector<uint8_t> LevelMember::*which,
                  std::span<const uint32_t> count) const {
        const size_t n = table_.label.size(), width = levels_ + 1;
        std::vector<double> at(table_.groups * width), total(table_.groups);
        Figures out;
        double all = 0;
        for (size_t i = 0; i < n; ++i) {
            const double w = weight(i) * (count.empty() ? 1.0 : count[i]);
            if (w == 0) continue;
            const auto g = static_cast<size_t>(table_.group[i]);
            total[g] += w;
            all += w;
            for (const auto& member : members) {
                const size_t level = (member.*which)[i];
                at[g * width + level] += w * member.weight;
                out.loss += w * member.weight * static_cast<double>(losses_[i * width + level]);
            }
        }
        out.loss /= all;
        out.disparity = disparity(at, total, all);
        return out;
    }

  private:
    double weight(size_t i) const {
        return table_.weight.empty() ? 1.0 : static_cast<double>(table_.weight[i]);
    }
    /// Largest |P(level >= j | group) - P(level >= j)|; a group that no row is of has none.
    double disparity(const std::vector<double>& at, const std::vector<double>& total,
                     double all) const {
        std::vector<double> above(table_.groups);
        double largest = 0;
        for (size_t j = levels_; j >= 1; --j) {
            double everybody = 0;
            for (size_t g = 0; g < table_.groups; ++g)
                everybody += above[g] += at[g * (levels_ + 1) + j];
            for (size_t g = 0; g < table_.groups; ++g) {
                if (total[g] == 0) continue;
                largest = std::max(largest, std::abs(above[g] / total[g] - everybody / all));
            }
        }
        return largest;
    }

    const RegressionTable& table_;
    size_t levels_;
    std::vector<float> losses_;  // [n x (levels + 1)]
};

stats::Interval band(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) {
        return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
    };
    return {at(0.025), at(0.975)};
}

void put_test(const Judge& judge, const std::vector<LevelMember>& members, size_t rows,
              uint64_t seed, RegressionPoint& point) {
    const auto whole = judge.judge(members, &LevelMember::test, {});
    point.loss = whole.loss;
    point.disparity = whole.disparity;
    base::Random random(seed);  // the same resamples for every point
    std::vector<double> losses, disparities;
    std::vector<uint32_t> count(rows);
    for (size_t b = 0; b < kResamples; ++b) {
        std::fill(count.begin(), count.end(), 0u);
        for (size_t i = 0; i < rows; ++i) ++count[random.below(rows)];
        const auto figures = judge.judge(members, &LevelMember::test, count);
        losses.push_back(figures.loss);
        disparities.push_back(figures.disparity);
    }
    point.loss_band = band(std::move(losses));
    point.disparity_band = band(std::move(disparities));
}

Result<Data> read_data(const RegressionFrontier& job, const fair_regression::LabelRange& range,
                       const RegressionJob& settings) {
    Data out;
    RAMPART_TRY(out.parts, read_table_parts(job.source, job.schema));
    RAMPART_RETURN_IF_ERROR(check_regression_rows(
        out.parts.train, true, fmt::format("the training rows of the split {}", job.source.split)));
    if (out.parts.test.rows() == 0)
        return base::make_error(Reason::kNoTestRows,
                                "the split {} leaves no test rows to judge on: try 50/0/50",
                                job.source.split);
    RAMPART_RETURN_IF_ERROR(check_regression_rows(
        out.parts.test, false, fmt::format("the test rows of the split {}", job.source.split)));
    RAMPART_TRY(out.train, fair_regression::regression_table(out.parts.train, range));
    RAMPART_TRY(out.test, fair_regression::regression_table(out.parts.test, range));
    const auto& t = job.trees;
    out.line = fmt::format(
        "rampart frontier of regression, data {}, split {}, seed {}, grid {}, trees {} of {} "
        "leaves "
        "at {}, fits {}, bound {} gap {}{}",
        evaluation::digest_of(out.parts.all).hex(), job.source.split, job.source.seed,
        settings.statistical_parity.levels, t.trees, t.leaves, t.learning_rate, job.reduction_fits,
        settings.statistical_parity.game.multiplier_bound,
        settings.statistical_parity.game.optimality_gap, regression_text(settings));
    return out;
}

/// Which points there are to be: one for a learner without epsilon.
std::vector<RegressionPoint> wanted(const RegressionFrontier& job) {
    std::vector<RegressionPoint> out;
    for (size_t number = 0; number < job.epsilons.size(); ++number)
        for (const auto& learner : job.learners) {
            const bool free = learner == "seo" || learner.starts_with("unconstrained");
            if (free && number > 0) continue;
            RegressionPoint point;
            point.learner = learner;
            point.number = number;
            point.epsilon = free ? 1 : job.epsilons[number];
            out.push_back(std::move(point));
        }
    return out;
}

/// A point of this run, not of the same folder with other epsilons.
using Key = std::pair<std::string, double>;

Result<RegressionPoint> run_point(const Bench& bench, const Data& data,
                                  const RegressionJob& settings, RegressionPoint point,
                                  uint64_t seed) {
    const auto start = std::chrono::steady_clock::now();
    RAMPART_TRY(const auto members, bench.learn(point.learner, point.epsilon));
    point.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    point.members = members.size();
    const auto train = Judge(data.train, settings.loss, settings.statistical_parity.levels)
                           .judge(members, &LevelMember::train, {});
    point.train_loss = train.loss;
    point.train_disparity = train.disparity;
    put_test(Judge(data.test, settings.loss, settings.statistical_parity.levels), members,
             data.test.label.size(), seed, point);
    return point;
}

/// Returns the file of points, to go on from later.
std::string points_text(std::string_view run, const std::vector<RegressionPoint>& points) {
    std::string out = result_file_head(run, kHeader);
    for (const auto& p : points)
        out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{:.3f}\n", p.learner, p.number,
                           p.epsilon, p.train_loss, p.train_disparity, p.loss, p.loss_band.lo,
                           p.loss_band.hi, p.disparity, p.disparity_band.lo, p.disparity_band.hi,
                           p.members, p.seconds);
    return out;
}

Result<std::vector<RegressionPoint>> read_points(const fs::path& path, std::string_view run) {
    std::vector<RegressionPoint> points;
    RAMPART_TRY(auto file, ResultFile::open(path, run, kHeader));
    while (file) {
        RAMPART_TRY(const bool more, file->next());
        if (!more) break;
        RegressionPoint p;
        p.learner = file->text(0);
        RAMPART_RETURN_IF_ERROR(file->read(1, p.number));
        size_t column = 2;
        for (double* to :
             {&p.epsilon, &p.train_loss, &p.train_disparity, &p.loss, &p.loss_band.lo,
              &p.loss_band.hi, &p.disparity, &p.disparity_band.lo, &p.disparity_band.hi})
            RAMPART_RETURN_IF_ERROR(file->read(column++, *to));
        RAMPART_RETURN_IF_ERROR(file->read(column++, p.members));
        RAMPART_RETURN_IF_ERROR(file->read(column, p.seconds));
        points.push_back(std::move(p));
    }
    return points;
}

Result<std::vector<RegressionPoint>> run_all(const RegressionFrontier& job,
                                             const RegressionJob& settings, const Data& data,
                                             const Context& context) {
    const fs::path file = fs::path(job.out) / "points.csv";
    RAMPART_TRY(auto points, read_points(file, data.line));
    std::set<Key> done;
    for (const auto& point : points) done.emplace(point.learner, point.epsilon);
    base::ThreadPool pool(job.threads);
    RAMPART_TRY(const auto signal, runtime::Shutdown::install());
    const auto all = wanted(job);
    size_t count = 0;
    const Bench bench(job, settings, data, pool, [&](int calls) {
        if (context.terminal) {
            fmt::print(stderr, "\r{}/{} points, {} {}: {} questions   ", count, all.size(),
                       all[count - 1].learner, all[count - 1].epsilon, calls);
            std::fflush(stderr);
        }
        return !signal->requested();
    });
    for (const auto& point : all) {
        ++count;
        if (done.contains({point.learner, point.epsilon})) continue;
        auto ran = run_point(bench, data, settings, point, job.source.seed);
        if (!ran && ran.error().is(Reason::kInterrupted))
            return base::make_error(Reason::kInterrupted,
                                    "interrupted after {} points, which {} holds; the same "
                                    "command goes on",
                                    points.size(), file.string());
        if (!ran)
            return ran.error().with_context(fmt::format("{} {}", point.learner, point.epsilon));
        points.push_back(*std::move(ran));
        RAMPART_RETURN_IF_ERROR(base::write_file_atomically(file, points_text(data.line, points)));
    }
    if (context.terminal) fmt::print(stderr, "\n");
    // those asked for, in order; the folder may hold others of other epsilons
    std::vector<RegressionPoint> out;
    for (const auto& point : all)
        out.push_back(*std::find_if(points.begin(), points.end(), [&](const auto& p) {
            return p.learner == point.learner && p.epsilon == point.epsilon;
        }));
    return out;
}

base::Status check_learners(const RegressionFrontier& job, const dataset::TableSchema& schema) {
    const bool classifies = std::find(job.learners.begin(), job.learners.end(),
                                      "fair-classification") != job.learners.end();
    if (classifies && schema.label_range)
        return base::make_error(dataset::Reason::kNumericLabel,
                                "fair-classification learns labels of two values, and the "
                                "schema's label is a number: leave it out");
    if (job.epsilons.empty())
        return base::make_error(base::Reason::kBadUsage, "--tolerances has no value");
    for (const double epsilon : job.epsilons)
        if (!(epsilon >= 0 && epsilon <= 1))
            return base::make_error(base::Reason::kBadUsage, "--tolerances {}: allowed is 0 to 1",
                                    epsilon);
    return base::ok();
}

Answer answer_of(const RegressionFrontier& job, const std::vector<RegressionPoint>& points) {
    report::Table table{{"learner", "tolerance", "loss", "95 % band", "disparity", "95 % band",
                         "train", "members", "seconds"}};
    boost::json::array list;
    const auto range = [](const stats::Interval& i) {
        return fmt::format("{:.4f} – {:.4f}", i.lo, i.hi);
    };
    for (const auto& p : points) {
        table.push_back({p.learner, fmt::format("{}", p.epsilon), fmt::format("{:.5f}", p.loss),
                         range(p.loss_band), fmt::format("{:.4f}", p.disparity),
                         range(p.disparity_band), fmt::format("{:.4f}", p.train_disparity),
                         std::to_string(p.members), fmt::format("{:.1f}", p.seconds)});
        list.push_back({{"learner", p.learner},
                        {"tolerance", p.epsilon},
                        {"loss", p.loss},
                        {"loss_band", {p.loss_band.lo, p.loss_band.hi}},
                        {"disparity", p.disparity},
                        {"disparity_band", {p.disparity_band.lo, p.disparity_band.hi}},
                        {"train_loss", p.train_loss},
                        {"train_disparity", p.train_disparity},
                        {"members", p.members},
                        {"seconds", p.seconds}});
    }
    Answer answer;
    answer.text =
        fmt::format("{}\nwrote {}/frontier.html and points.csv\n", report::align(table), job.out);
    answer.json =
        boost::json::serialize(boost::json::object{{"out", job.out}, {"points", std::move(list)}});
    return answer;
}

}  // namespace

const std::vector<std::string>& regression_learners() {
    static const std::vector<std::string> learners{"fair-regression",
                                                   "fair-regression-linear",
                                                   "unconstrained",
                                                   "unconstrained-linear",
                                                   "seo",
                                                   "fair-classification"};
    return learners;
}

bool is_regression_learner(const std::string& learner) {
    const auto& all = regression_learners();
    return std::find(all.begin(), all.end(), learner) != all.end();
}

Result<Answer> regression_frontier(const RegressionFrontier& job, const Context& context) {
    RAMPART_RETURN_IF_ERROR(check_learners(job, job.schema));
    fair_regression::LabelRange range;
    if (job.schema.label_range) range = {job.schema.label_range->lo, job.schema.label_range->hi};
    RAMPART_TRY(const auto settings, regression_job(job.options, job.trees, range));
    RAMPART_TRY(const auto data, read_data(job, range, settings));
    RAMPART_TRY(const auto points, run_all(job, settings, data, context));
    const auto page = regression_frontier_page(
        fmt::format("{}, split {}, seed {}", job.source.data, job.source.split, job.source.seed),
        fair_regression::loss_text(settings.loss), points);
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(fs::path(job.out) / "frontier.html", page));
    return answer_of(job, points);
}

}  // namespace rampart::cli
