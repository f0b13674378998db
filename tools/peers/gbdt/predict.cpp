#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "rampart/gbdt/log_loss.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/model/engine.hpp"
#include "tools/peers/gbdt/commands.hpp"
#include "tools/peers/gbdt/libraries.hpp"
#include "tools/peers/gbdt/process.hpp"
#include "tools/peers/gbdt/table_file.hpp"

namespace rampart::peer_gbdt {
namespace {

using base::Status;

/// Rows side by side, as somebody who asks for scores has them.
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

/// One way to score all rows once.
using Job = std::function<Status(std::span<double> out)>;
using Jobs = std::map<std::string, Job>;
using Times = std::map<std::string, std::vector<double>>;  // ns a row, one a round

/// All jobs in every round; each repeated until it took long enough for the clock to be fair.
base::Result<Times> measure(const Jobs& jobs, size_t rows, int rounds, double Moment::*clock) {
    constexpr double kLongEnough = 0.05;
    constexpr auto kUntilOthersSleep = std::chrono::milliseconds(20);  // threads that still spin
    Times times;
    std::vector<double> out(rows);
    for (int round = -1; round < rounds; ++round) {  // one to warm up
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

struct Models {
    model::Engine engine;
    model::BatchEngine batch;
    LightGbm lightgbm;
    XgBoost xgboost;
};

Jobs single_jobs(const Models& models, const Rows& rows) {
    Jobs jobs;
    jobs["ours"] = [&](std::span<double> out) {
        for (size_t i = 0; i < out.size(); ++i) {
            out[i] = models.engine.predict_raw(std::span(rows.row(i), rows.features));
        }
        return base::ok();
    };
    jobs["lightgbm"] = [&](std::span<double> out) -> Status {
        for (size_t i = 0; i < out.size(); ++i) {
            RAMPART_TRY(out[i], models.lightgbm.predict_one(rows.row(i)));
        }
        return base::ok();
    };
    return jobs;
}

Jobs batch_jobs(const Models& models, const Rows& rows, size_t threads, base::ThreadPool* pool) {
    Jobs jobs;
    jobs["ours"] = [&, pool](std::span<double> out) {
        models.batch.predict_raw(model::TableView::row_major(rows.values, rows.features), out,
                                 pool);
        return base::ok();
    };
    jobs["lightgbm"] = [&, threads](std::span<double> out) {
        return models.lightgbm.predict(rows.values, threads, out);
    };
    jobs["xgboost"] = [&, threads](std::span<double> out) {
        return models.xgboost.predict(rows.values, threads, out);
    };
    return jobs;
}

/// What is timed has to be right: the two ways to ask the same model give the same.
Status check_same(const Jobs& single, const Jobs& batch, size_t rows) {
    std::vector<double> one(rows), other(rows);
    for (const std::string name : {"ours", "lightgbm"}) {
        RAMPART_RETURN_IF_ERROR(single.at(name)(one));
        RAMPART_RETURN_IF_ERROR(batch.at(name)(other));
        const auto [a, b] = std::mismatch(one.begin(), one.end(), other.begin());
        if (a == one.end()) continue;
        return base::internal_error("other_scores", "{}, row {}: {} alone, {} in a batch", name,
                                    a - one.begin(), *a, *b);
    }
    return base::ok();
}

}  // namespace

Status predict(const PredictJob& job) {
    RAMPART_TRY(const dataset::Dataset data, read_table_file(job.data));
    gbdt::LogLoss objective(data);
    RAMPART_TRY(const model::Ensemble ensemble,
                gbdt::train(data, objective, job.params, nullptr));
    const size_t features = data.columns.size();
    RAMPART_TRY(LightGbm lightgbm,
                LightGbm::open(job.lightgbm_library, job.lightgbm_model, features));
    RAMPART_TRY(XgBoost xgboost, XgBoost::open(job.xgboost_library, job.xgboost_model, features));
    const Models models{model::Engine(ensemble), model::BatchEngine(ensemble), std::move(lightgbm),
                        std::move(xgboost)};

    constexpr size_t kOneByOne = 4096;  // their values stay in the cache
    const Rows few = first_rows(data, kOneByOne), many = first_rows(data, job.batch_rows);
    RAMPART_RETURN_IF_ERROR(check_same(single_jobs(models, few),
                                       batch_jobs(models, few, 1, nullptr), few.count()));
    fmt::print("{{");
    RAMPART_TRY(const Times single, measure(single_jobs(models, few), few.count(), job.rounds,
                                            &Moment::cpu));
    print("single", single, ", ");
    RAMPART_TRY(const Times one, measure(batch_jobs(models, many, 1, nullptr), many.count(),
                                         job.rounds, &Moment::cpu));
    print("batch_1", one, ", ");
    base::ThreadPool pool(2);
    RAMPART_TRY(const Times two, measure(batch_jobs(models, many, 2, &pool), many.count(),
                                         job.rounds, &Moment::wall));
    print("batch_2", two, "}\n");
    return base::ok();
}

}  // namespace rampart::peer_gbdt
