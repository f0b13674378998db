#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "rampart/base/file.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/model/engine.hpp"
#include "rampart/model_exchange/lightgbm_text.hpp"
#include "tools/peers/gbdt/commands.hpp"
#include "tools/peers/gbdt/libraries.hpp"
#include "tools/peers/gbdt/process.hpp"
#include "tools/peers/gbdt/table_file.hpp"
#include "tools/peers/reasons.hpp"

namespace rampart::peer_gbdt {
namespace {

using base::Status;

/// Rows in row-major order, as a client of the scoring service has them.
struct Rows {
    size_t features = 0;
    std::vector<float> values;  // [n x d]

    size_t count() const { return values.size() / features; }
    const float* row(size_t i) const { return values.data() + i * features; }
};

Rows first_rows(const dataset::Dataset& data, size_t most) {
    Rows out{data.columns.size(), {}};
    out.values.resize(std::min(most, data.rows()) * out.features);
    for (size_t i = 0; i < out.count(); ++i) {
        data.copy_row(i, std::span(out.values).subspan(i * out.features, out.features));
    }
    return out;
}

/// A function that scores all rows once.
using Job = std::function<Status(std::span<double> out)>;
using Jobs = std::map<std::string, Job>;
using Times = std::map<std::string, std::vector<double>>;  // ns per row, one value per round

/// Runs all jobs in every round; each is repeated until it took long enough for the clock's
/// resolution.
base::Result<Times> measure(const Jobs& jobs, size_t rows, int rounds, double Moment::*clock) {
    constexpr double kLongEnough = 0.05;
    constexpr auto kUntilOthersSleep = std::chrono::milliseconds(20);  // waits for threads that
                                                                       // still spin
    Times times;
    std::vector<double> out(rows);
    for (int round = -1; round < rounds; ++round) {  // round -1 is a warm-up
        for (const auto& [name, job] : jobs) {
            std::this_thread::sleep_for(kUntilOthersSleep);
            const Moment start = Moment::now();
            double seconds = 0;
            size_t repeats = 0;
            while (seconds < kLongEnough) {
                RAMPART_RETURN_IF_ERROR(job(out));
                ++repeats;
                seconds = (Moment::now() - start).*clock;
            }
            const double each = 1e9 * seconds / static_cast<double>(repeats * rows);
            if (round >= 0) times[name].push_back(each);
        }
    }
    return times;
}

void print(const char* name, const Times& times, const char* end) {
    fmt::print("\"{}\": {{", name);
    const char* between = "";
    for (const auto& [who, values] : times) {
        fmt::print("{}\"{}\": [{:.2f}]", between, who, fmt::join(values, ", "));
        between = ", ";
    }
    fmt::print("}}{}", end);
}

/// Our engines for one ensemble.
struct Engines {
    explicit Engines(const model::Ensemble& ensemble) : one(ensemble), batch(ensemble) {}
    model::Engine one;
    model::BatchEngine batch;
};

Job one_by_one(const model::Engine& engine, const Rows& rows) {
    return [&](std::span<double> out) {
        for (size_t i = 0; i < out.size(); ++i) {
            out[i] = engine.predict_raw(std::span(rows.row(i), rows.features));
        }
        return base::ok();
    };
}
Job one_by_one(const LightGbm& lightgbm, const Rows& rows) {
    return [&](std::span<double> out) -> Status {
        for (size_t i = 0; i < out.size(); ++i) {
            RAMPART_TRY(out[i], lightgbm.predict_one(rows.row(i)));
        }
        return base::ok();
    };
}
Job at_once(const model::BatchEngine& engine, const Rows& rows, base::ThreadPool* pool = nullptr) {
    return [&, pool](std::span<double> out) {
        engine.predict_raw(model::TableView::row_major(rows.values, rows.features), out, pool);
        return base::ok();
    };
}
template <class Peer>
Job at_once(const Peer& peer, const Rows& rows, size_t threads = 1) {
    return [&, threads](std::span<double> out) { return peer.predict(rows.values, threads, out); };
}

/// Checks that all jobs give the same result before they are timed.
Status check_same(std::string_view what, const std::vector<Job>& jobs, size_t rows) {
    std::vector<double> first(rows), other(rows);
    RAMPART_RETURN_IF_ERROR(jobs.front()(first));
    for (const Job& job : jobs) {
        RAMPART_RETURN_IF_ERROR(job(other));
        const auto [a, b] = std::mismatch(first.begin(), first.end(), other.begin());
        if (a == first.end()) continue;
        return base::make_error(peers::Reason::kOtherScores, "{}, row {}: {} and {}", what,
                                a - first.begin(), *a, *b);
    }
    return base::ok();
}

base::Result<Engines> import_lightgbm(const std::string& path,
                                      const dataset::FeatureSchema& schema) {
    RAMPART_TRY(const auto text, base::read_file(path, base::limits::kMaxModelFileBytes));
    RAMPART_TRY(const auto model, model_exchange::read_lightgbm(text, schema));
    return Engines(model.ensemble);
}

/// Measures all jobs. ours: our own model; same: LightGBM's.
Status measure_all(const PredictJob& job, const dataset::Dataset& data, const Engines& ours,
                   const Engines& same, const LightGbm& lightgbm, const XgBoost& xgboost) {
    constexpr size_t kOneByOne = 4096;  // few enough that their values stay in the cache
    const Rows few = first_rows(data, kOneByOne), many = first_rows(data, job.batch_rows);
    RAMPART_RETURN_IF_ERROR(check_same(
        "our model", {one_by_one(ours.one, few), at_once(ours.batch, few)}, few.count()));
    RAMPART_RETURN_IF_ERROR(check_same("LightGBM's model",
                                       {one_by_one(lightgbm, few), at_once(lightgbm, few),
                                        one_by_one(same.one, few), at_once(same.batch, few)},
                                       few.count()));
    base::ThreadPool pool(2);
    const Jobs single{{"ours", one_by_one(ours.one, few)}, {"lightgbm", one_by_one(lightgbm, few)}};
    const Jobs same_single{{"ours", one_by_one(same.one, few)},
                           {"lightgbm", one_by_one(lightgbm, few)}};
    const Jobs batch_1{{"ours", at_once(ours.batch, many)},
                       {"lightgbm", at_once(lightgbm, many)},
                       {"xgboost", at_once(xgboost, many)}};
    const Jobs same_batch{{"ours", at_once(same.batch, many)},
                          {"lightgbm", at_once(lightgbm, many)}};
    const Jobs batch_2{{"ours", at_once(ours.batch, many, &pool)},
                       {"lightgbm", at_once(lightgbm, many, 2)},
                       {"xgboost", at_once(xgboost, many, 2)}};
    RAMPART_TRY(const Times a, measure(single, few.count(), job.rounds, &Moment::cpu));
    RAMPART_TRY(const Times b, measure(same_single, few.count(), job.rounds, &Moment::cpu));
    RAMPART_TRY(const Times c, measure(batch_1, many.count(), job.rounds, &Moment::cpu));
    RAMPART_TRY(const Times d, measure(same_batch, many.count(), job.rounds, &Moment::cpu));
    RAMPART_TRY(const Times e, measure(batch_2, many.count(), job.rounds, &Moment::wall));
    fmt::print("{{");
    print("single", a, ", ");
    print("single_same", b, ", ");
    print("batch_1", c, ", ");
    print("batch_same", d, ", ");
    print("batch_2", e, "}\n");
    return base::ok();
}

}  // namespace

Status predict(const PredictJob& job) {
    RAMPART_TRY(const dataset::Dataset data, read_table_file(job.data));
    gbdt::LogLoss objective(data);
    RAMPART_TRY(const model::Ensemble ensemble, gbdt::train(data, objective, job.params, nullptr));
    const size_t features = data.columns.size();
    RAMPART_TRY(const LightGbm lightgbm,
                LightGbm::open(job.lightgbm_library, job.lightgbm_model, features));
    RAMPART_TRY(const XgBoost xgboost,
                XgBoost::open(job.xgboost_library, job.xgboost_model, features));
    RAMPART_TRY(const Engines same, import_lightgbm(job.lightgbm_model, data.schema));
    return measure_all(job, data, Engines(ensemble), same, lightgbm, xgboost);
}

}  // namespace rampart::peer_gbdt
