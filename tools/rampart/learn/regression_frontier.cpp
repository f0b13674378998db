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
#include "learn/result_file.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/random.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/evaluation/table_digest.hpp"
#include "rampart/fair_regression/baselines.hpp"
#include "rampart/fair_regression/levels.hpp"
#include "rampart/fair_regression/loss_names.hpp"
#include "rampart/fair_regression/oracles.hpp"
#include "rampart/fair_regression/serving.hpp"
#include "rampart/learning/reasons.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/reductions/train.hpp"
#include "rampart/report/text_table.hpp"
#include "rampart/runtime/shutdown.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
using base::Result;
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
    fair_regression::LabelRange range;
    std::string line;  // identifies this run
};

/// What is minimised, and on how many levels it is judged.
struct Settings {
    fair_regression::RegressionLoss loss;
    int levels = 0;
};

Result<Settings> settings_of(const learning::OptionValues& values) {
    const auto& parameter = values.numbers("loss_parameter");
    RAMPART_TRY(auto loss,
                fair_regression::parse_loss(
                    values.text("loss"),
                    parameter.empty() ? std::nullopt : std::optional(parameter.front())));
    return Settings{std::move(loss), values.integer("grid")};
}

/// A row's score: level k with weight[k].
struct LevelMass {
    uint8_t level;
    double weight;
};
/// What a predictor, or a mixture, says of rows.
struct Scores {
    std::vector<std::vector<LevelMass>> train, test;
    size_t members = 1;
};

class Bench {
  public:
    Bench(const RegressionFrontier& job, const Settings& settings, const Data& data,
          base::ThreadPool& pool, std::function<bool(const learning::Progress&)> progress)
        : job_(job),
          settings_(settings),
          data_(data),
          pool_(pool),
          progress_(std::move(progress)) {}

    Result<Scores> learn(const std::string& learner, double epsilon) const {
        if (learner == "seo") return seo();
        if (learner == "fair-classification") return classification(epsilon);
        const bool linear = learner.ends_with(kLinearSuffix);
        if (learner.starts_with("unconstrained")) return unconstrained(linear);
        auto values = job_.values;
        RAMPART_RETURN_IF_ERROR(values.set("oracle", linear ? "linear" : "gbdt"));
        RAMPART_RETURN_IF_ERROR(values.set("disparity_tolerance", epsilon));
        RAMPART_TRY(auto learned, fit(kRegressionLearner, values));
        RAMPART_TRY(const auto policy,
                    model::Policy::create(data_.parts.train.schema, {learned.link}, {}, {}));
        const auto of = [&](const dataset::Dataset& rows) {
            std::vector<std::vector<LevelMass>> out;
            std::vector<float> row(rows.schema.size());
            for (size_t i = 0; i < rows.rows(); ++i) {
                rows.copy_row(i, row);
                auto& masses = out.emplace_back();
                for (const auto& [score, weight] : policy.scores(row, std::nullopt))
                    masses.push_back({levels({score}).front(), weight});
            }
            return out;
        };
        return Scores{of(data_.parts.train), of(data_.parts.test),
                      std::max<size_t>(1, learned.link.members.size())};
    }

  private:
    Result<learning::Learned> fit(std::string_view name,
                                  const learning::OptionValues& values) const {
        RAMPART_TRY(const auto* learner, learning::find_learner(name));
        return learning::fit(*learner,
                             {.train = data_.parts.train,
                              .label_lo = data_.range.lo,
                              .label_hi = data_.range.hi,
                              .seed = job_.source.seed,
                              .pool = &pool_,
                              .progress = progress_},
                             values);
    }
    std::vector<uint8_t> levels(const std::vector<double>& u) const {
        return fair_regression::levels_of(u, settings_.levels);
    }
    /// Adds a member that scores the rows.
    void add(const std::vector<double>& scores, double weight,
             std::vector<std::vector<LevelMass>>& to) const {
        const auto of_rows = levels(scores);
        to.resize(of_rows.size());
        for (size_t i = 0; i < of_rows.size(); ++i) to[i].push_back({of_rows[i], weight});
    }

    Scores scores_of(const reductions::OracleModel& model) const {
        Scores out;
        add(reductions::predict(model, data_.parts.train, &pool_), 1, out.train);
        add(reductions::predict(model, data_.parts.test, &pool_), 1, out.test);
        return out;
    }

    Result<Scores> seo() const {
        RAMPART_TRY(const reductions::OracleModel model,
                    fair_regression::fit_seo(data_.parts.train, data_.train.rows()));
        return scores_of(model);
    }

    /// The predictor of least loss, with the trees or the ridge penalty of the others.
    Result<Scores> unconstrained(bool linear) const {
        const auto& values = job_.values;
        const auto fitted = [&](reductions::Oracle&& oracle) -> Result<Scores> {
            RAMPART_TRY(const auto found, fair_regression::fit_unconstrained(
                                              data_.train.rows(), settings_.loss, oracle));
            return scores_of(found.model);
        };
        if (linear) {
            RAMPART_TRY(auto oracle, fair_regression::LinearOracle::create(
                                         data_.parts.train, {.ridge = values.number("ridge")}));
            return fitted(std::move(oracle));
        }
        gbdt::LearnerParams trees;
        trees.trees = values.integer("trees");
        trees.leaves = values.integer("leaves");
        trees.learning_rate = values.number("learning_rate");
        trees.min_rows_in_leaf = values.integer("min_rows_in_leaf");
        trees.seed = job_.source.seed;
        RAMPART_TRY(auto oracle,
                    fair_regression::create_tree_oracle(data_.parts.train, trees, &pool_));
        return fitted(std::move(oracle));
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

    /// The members' scores of a classifier of equal approval rates, with the same trees.
    Result<Scores> classification(double epsilon) const {
        RAMPART_TRY(const auto* learner, learning::find_learner("eg"));
        learning::OptionValues values(learner->options());
        for (const auto& option : values.options())
            if (job_.values.has(option.name) && option.name != "threshold")
                RAMPART_RETURN_IF_ERROR(values.set(option.name, job_.values.value(option.name)));
        RAMPART_RETURN_IF_ERROR(values.set("constraints", "statistical_parity"));
        RAMPART_RETURN_IF_ERROR(values.set("tolerance", epsilon));
        RAMPART_RETURN_IF_ERROR(values.set("fits", int64_t{job_.reduction_fits}));
        RAMPART_TRY(const auto learned, fit("eg", values));
        const auto& link = learned.link;
        Scores out;
        out.members = std::max<size_t>(1, link.members.size());
        for (size_t m = 0; m < out.members; ++m) {
            const auto member = link.members.empty() ? model::Member{} : link.members[m];
            const auto& ensemble = member.ensemble == 0
                                       ? link.ensemble
                                       : link.additional_ensembles[member.ensemble - 1];
            add(unit_scores(ensemble, data_.parts.train), member.weight, out.train);
            add(unit_scores(ensemble, data_.parts.test), member.weight, out.test);
        }
        return out;
    }

    const RegressionFrontier& job_;
    const Settings& settings_;
    const Data& data_;
    base::ThreadPool& pool_;
    std::function<bool(const learning::Progress&)> progress_;
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

    Figures judge(const std::vector<std::vector<LevelMass>>& scores,
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
            for (const auto& [level, mass] : scores[i]) {
                at[g * width + level] += w * mass;
                out.loss += w * mass * static_cast<double>(losses_[i * width + level]);
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

void put_test(const Judge& judge, const std::vector<std::vector<LevelMass>>& scores, uint64_t seed,
              RegressionPoint& point) {
    const auto whole = judge.judge(scores, {});
    point.loss = whole.loss;
    point.disparity = whole.disparity;
    base::Random random(seed);  // the same resamples for every point
    std::vector<double> losses, disparities;
    std::vector<uint32_t> count(scores.size());
    for (size_t b = 0; b < kResamples; ++b) {
        std::fill(count.begin(), count.end(), 0u);
        for (size_t i = 0; i < scores.size(); ++i) ++count[random.below(scores.size())];
        const auto figures = judge.judge(scores, count);
        losses.push_back(figures.loss);
        disparities.push_back(figures.disparity);
    }
    point.loss_band = band(std::move(losses));
    point.disparity_band = band(std::move(disparities));
}

/// Checks rows that fair regression can use: groups, none of them empty. `what` stands in errors.
base::Status check_groups(const dataset::Dataset& data, const std::string& what) {
    if (data.group.empty())
        return base::make_error(base::Reason::kNoGroups,
                                "{}: fair regression needs protected groups: name columns under "
                                "`protected` in the schema",
                                what);
    std::vector<size_t> count(data.group_names.size());
    for (const int32_t group : data.group) ++count[static_cast<size_t>(group)];
    for (size_t g = 0; g < count.size(); ++g)
        if (count[g] == 0)
            return base::make_error(base::Reason::kEmptyGroup,
                                    "{}: group '{}' has no rows; merge it with another, or give "
                                    "the part more rows",
                                    what, data.group_names[g]);
    return base::ok();
}

Result<Data> read_data(const RegressionFrontier& job) {
    Data out;
    if (job.schema.label_range)
        out.range = {job.schema.label_range->lo, job.schema.label_range->hi};
    RAMPART_TRY(out.parts, read_table_parts(job.source, job.schema));
    const auto what = [&](const char* part) {
        return fmt::format("the {} rows of the split {}", part, job.source.split.text());
    };
    RAMPART_RETURN_IF_ERROR(check_groups(out.parts.train, what("training")));
    if (out.parts.test.rows() == 0)
        return base::make_error(Reason::kNoTestRows,
                                "the split {} leaves no test rows to judge on: try 50/0/50",
                                job.source.split.text());
    RAMPART_RETURN_IF_ERROR(check_groups(out.parts.test, what("test")));
    RAMPART_TRY(out.train, fair_regression::regression_table(out.parts.train, out.range));
    RAMPART_TRY(out.test, fair_regression::regression_table(out.parts.test, out.range));
    out.line =
        fmt::format("rampart frontier of regression, data {}, split {}, seed {}, fits {}, {}",
                    out.parts.data.hex(), to_text(out.parts.plan), job.source.seed,
                    job.reduction_fits, job.values.canonical());
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

Result<RegressionPoint> run_point(const Bench& bench, const Data& data, const Settings& settings,
                                  RegressionPoint point, uint64_t seed) {
    const auto start = std::chrono::steady_clock::now();
    RAMPART_TRY(const auto scores, bench.learn(point.learner, point.epsilon));
    point.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    point.members = scores.members;
    const auto train = Judge(data.train, settings.loss, settings.levels).judge(scores.train, {});
    point.train_loss = train.loss;
    point.train_disparity = train.disparity;
    put_test(Judge(data.test, settings.loss, settings.levels), scores.test, seed, point);
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
                                             const Settings& settings, const Data& data,
                                             const Context& context) {
    const fs::path file = fs::path(job.out) / "points.csv";
    RAMPART_TRY(auto points, read_points(file, data.line));
    std::set<Key> done;
    for (const auto& point : points) done.emplace(point.learner, point.epsilon);
    base::ThreadPool pool(job.threads);
    RAMPART_TRY(const auto signal, runtime::Shutdown::install());
    const auto all = wanted(job);
    size_t count = 0;
    const Bench bench(job, settings, data, pool, [&](const learning::Progress& p) {
        if (context.terminal) {
            fmt::print(stderr, "\r{}/{} points, {} {}: {} {}   ", count, all.size(),
                       all[count - 1].learner, all[count - 1].epsilon, p.done, p.unit);
            std::fflush(stderr);
        }
        return !signal->requested();
    });
    for (const auto& point : all) {
        ++count;
        if (done.contains({point.learner, point.epsilon})) continue;
        auto ran = run_point(bench, data, settings, point, job.source.seed);
        if (!ran && ran.error().is(learning::Reason::kTrainingStopped))
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

Answer answer_of(const RegressionFrontier& job, const TableParts& parts,
                 const std::vector<RegressionPoint>& points) {
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
    answer.text = fmt::format("{}{}\nwrote {}/frontier.html and points.csv\n", parts.text(),
                              report::align(table), job.out);
    answer.json = boost::json::serialize(boost::json::object{
        {"out", job.out}, {"split_rows", parts.json()}, {"points", std::move(list)}});
    answer.notes = parts.notes();
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
    RAMPART_TRY(const auto settings, settings_of(job.values));
    RAMPART_TRY(const auto data, read_data(job));
    RAMPART_TRY(const auto points, run_all(job, settings, data, context));
    const auto page =
        regression_frontier_page(fmt::format("{}, split {}, seed {}", job.source.data,
                                             job.source.split.text(), job.source.seed),
                                 fair_regression::loss_text(settings.loss), points);
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(fs::path(job.out) / "frontier.html", page));
    return answer_of(job, data.parts, points);
}

}  // namespace rampart::cli
