#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <memory>

#include "rampart/gbdt/log_loss.hpp"
#include "rampart/model/batch_engine.hpp"
#include "tools/peers/gbdt/commands.hpp"
#include "tools/peers/gbdt/process.hpp"
#include "tools/peers/gbdt/table_file.hpp"
#include "tools/peers/reasons.hpp"

namespace rampart::peer_gbdt {
namespace {

/// Times at which boosting's first and last tree were done.
struct Trees {
    Moment first, last;
    int count = 0;

    /// Returns the time of all trees; the first one, whose time includes binning, counts as the
    /// mean of the others.
    Moment boosting() const {
        if (count < 2) return {};
        const double factor = static_cast<double>(count) / (count - 1);
        const Moment others = last - first;
        return {others.wall * factor, others.cpu * factor};
    }
};

base::Status write_scores(const std::string& path, const model::Ensemble& ensemble,
                          const dataset::Dataset& data) {
    std::vector<double> scores(data.rows());
    model::BatchEngine(ensemble).predict_raw(model::TableView::of(data), scores);
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(scores.data()),
              static_cast<std::streamsize>(scores.size() * sizeof(double)));
    if (!out.flush())
        return base::make_error(peers::Reason::kNotWritten, "'{}' was not written", path);
    return base::ok();
}

}  // namespace

base::Status train(const TrainJob& job) {
    const uint64_t rss_start = resident_kib();
    const Moment begin = Moment::now();
    RAMPART_TRY(const dataset::Dataset data, read_table_file(job.data));
    const Moment load = Moment::now() - begin;
    const uint64_t rss_loaded = resident_kib();
    reset_peak();

    const auto pool = job.threads > 1 ? std::make_unique<base::ThreadPool>(job.threads) : nullptr;
    gbdt::LogLoss objective(data);
    Trees trees;
    const auto note = [&](const gbdt::Progress& progress) {
        trees.last = Moment::now();
        if (progress.iteration == 1) trees.first = trees.last;
        trees.count = progress.iteration;
        return true;
    };
    const Moment start = Moment::now();
    RAMPART_TRY(const model::Ensemble ensemble,
                gbdt::train(data, objective, job.params, pool.get(), nullptr, note));
    const Moment total = Moment::now() - start;
    const uint64_t peak = peak_resident_kib();

    const Moment boosting = trees.boosting();
    if (!job.test.empty()) {
        RAMPART_TRY(const dataset::Dataset test, read_table_file(job.test));
        RAMPART_RETURN_IF_ERROR(write_scores(job.predictions, ensemble, test));
    }
    fmt::print(
        "{{\"load\": {}, \"total\": {}, \"total_cpu\": {}, \"boost\": {}, "
        "\"boost_cpu\": {}, \"trees\": {}, \"start_kib\": {}, \"loaded_kib\": {}, \"peak_kib\": "
        "{}}}\n",
        load.wall, total.wall, total.cpu, boosting.wall, boosting.cpu, ensemble.trees.size(),
        rss_start, rss_loaded, peak);
    return base::ok();
}

}  // namespace rampart::peer_gbdt
