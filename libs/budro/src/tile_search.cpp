#include "tile_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "chunks.hpp"
#include "tile_losses.hpp"
#include "value_table.hpp"

namespace rampart::budro {
namespace {

constexpr size_t kJobs = 64;  // about as many sources in a chunk
/// A bound that is this much too low, as a share of the span of losses, need not be tightened.
constexpr double kBoundTolerance = 0.06;
constexpr double kJustBelow = 1 - 1e-6;  // more than rounding to a float may add

/// One source of a call.
struct Job {
    uint32_t rank;  // in the order in which sources are worked through
    uint32_t k;     // index in the call's spans
};

class TileSearch : public Search {
  public:
    TileSearch(const SupportPoints& points, int classes, model::InstructionSet instructions,
               size_t tiles_in_group, size_t bytes_to_remember, base::ThreadPool* pool)
        : support_(points),
          kernels_(tile_kernels(instructions)),
          tiles_(points),
          table_(tiles_, kernels_, tiles_in_group, pool),
          pool_(pool),
          losses_(static_cast<size_t>(classes)),
          top_(static_cast<size_t>(classes)),
          rank_(points.sources.size()) {
        std::vector<uint32_t> order(rank_.size());
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
            const Source &x = points.sources[a], &y = points.sources[b];
            const size_t p = row_of(x), q = row_of(y);
            if (p != q) return p < q;
            if (x.label != y.label) return x.label < y.label;
            return tiles_.slot_of_point()[x.point] < tiles_.slot_of_point()[y.point];
        });
        run_.resize(rank_.size());
        std::vector<uint8_t> labels;
        for (uint32_t r = 0; r < order.size(); ++r) {
            rank_[order[r]] = r;
            const Source& source = points.sources[order[r]];
            if (r == 0 || row_of(source) != row_of(points.sources[order[r - 1]]) ||
                source.label != labels.back())
                labels.push_back(source.label);
            run_size_.resize(labels.size());
            ++run_size_.back();
            run_[order[r]] = static_cast<uint32_t>(labels.size() - 1);
        }
        const bool remembers = ValueTable::bytes(labels.size(), table_) <= bytes_to_remember;
        past_ = std::make_unique<ValueTable>(std::move(labels), static_cast<size_t>(classes),
                                             tiles_, table_, remembers, pool);
    }

    void begin_round(const TargetLosses& losses) override {
        targets_ = &losses;
        for (size_t c = 0; c < losses_.size(); ++c)
            losses_[c].fill(std::span(losses.loss).subspan(c * losses.points, losses.points),
                            tiles_, table_);
        past_->begin_round(losses_);
        tops_are_known_ = false;
    }

    void best(double eta, std::span<const uint32_t> sources, std::span<Choice> choices) override {
        const Round round = round_at(eta, eta, 0);
        for_runs(
            jobs_of(sources), sources, [&](std::span<const Job> jobs, size_t row, Worker& worker) {
                std::vector<Query> queries;
                for (const Job& job : jobs)
                    queries.push_back(query_of(round, sources[job.k], choices[job.k]));
                search_run(round, queries, row, worker);
                for (size_t j = 0; j < jobs.size(); ++j)
                    choices[jobs[j].k] = {queries[j].best.point, queries[j].best.squared_distance};
            });
    }

    void window(double lo, double hi, std::span<const uint32_t> sources,
                std::span<const Choice> guesses, Window& out) override;

    void near(double eta, double slack, std::span<const uint32_t> sources,
              const NearVisitor& visit) override;

    size_t bytes() const override {
        return tiles_.bytes() + table_.bytes() + past_->bytes() +
               losses_.size() * support_.count() * (3 * sizeof(double) + 2 * sizeof(float)) +
               rank_.size() * 2 * sizeof(uint32_t);
    }

  private:
    /// Losses as a call needs them, by class. What may be of interest is sought at one price, what
    /// is best decided at another (or the same).
    struct Round {
        std::vector<PricedLosses> sought;
        double eta = 0;       // where the best is decided
        double rounding = 0;  // see rounding_of()
    };

    /// A source and the best known for it. Sought are values at least the best less `slack`.
    struct Query {
        const Source* source = nullptr;
        Candidate best{};
        double slack = 0;
        std::vector<Candidate>* collected =
            nullptr;  // candidates that were evaluated, values as sought
        double sought() const { return best.value - slack; }
    };

    struct Picked {
        uint32_t k;  // index in a call's spans
        Choice choice;
    };

    /// What one thread works with.
    struct Worker {
        std::vector<uint32_t> found;
        std::vector<Query> queries;
        std::vector<std::vector<Candidate>> collected;  // by query
        std::vector<Picked> picked;                     // by window()
        SearchCounts counts;
    };

    size_t row_of(const Source& source) const {
        return table_.row_of_slot(tiles_.slot_of_point()[source.point]);
    }

    Candidate candidate(const Round& round, double eta, const Source& source, uint32_t point,
                        double distance) const {
        const TileLosses& losses = *round.sought[source.label].losses;
        return {losses.by_point[point] - eta * distance, distance,
                targets_->row_of(source.label, point), point};
    }
    static double least_of(std::span<const Query> queries) {
        double least = queries[0].sought();
        for (const Query& query : queries) least = std::min(least, query.sought());
        return least;
    }
    /// Who knows of staying and of a guess.
    Query query_of(const Round& round, uint32_t source, const Choice& guess) const {
        Query query;
        query.source = &support_.sources[source];
        query.best = candidate(round, round.eta, *query.source, query.source->point, 0);
        if (guess.point == kNowhere) return query;
        const Candidate known =
            candidate(round, round.eta, *query.source, guess.point, guess.squared_distance);
        if (known.beats(query.best)) query.best = known;
        return query;
    }

    std::vector<Job> jobs_of(std::span<const uint32_t> sources) const;
    Round round_at(double sought, double decided, double slack);
    template <class Run>
    std::vector<std::vector<Picked>> for_runs(const std::vector<Job>& jobs,
                                              std::span<const uint32_t> sources, const Run& run);
    size_t scan(const Round& round, std::span<Query> queries, size_t row, Worker& worker);
    void decide(const Round& round, Query& query, size_t tile, uint32_t open, Worker& worker) const;
    double evaluate_tile(const Round& round, Query& query, size_t tile, Worker& worker) const;
    void evaluate_column(const Round& round, std::span<Query> queries, size_t run, size_t row,
                         uint32_t column, Worker& worker);
    void refine_neighbours(const Round& round, std::span<Query> queries, size_t run, size_t row,
                           Worker& worker);
    void seek(const Round& round, Query& query, size_t row, size_t found, Worker& worker) const;
    void visit(const Round& round, Query& query, size_t tile, uint16_t steps, Worker& worker) const;
    void search_run(const Round& round, std::span<Query> queries, size_t row, Worker& worker);
    void near_optimal_at_zero_price(double slack, std::span<const uint32_t> sources,
                                    const NearVisitor& visit);

    const SupportPoints& support_;
    const TileKernels& kernels_;
    Tiles tiles_;
    DistanceTable table_;
    base::ThreadPool* pool_;
    const TargetLosses* targets_ = nullptr;
    std::vector<TileLosses> losses_, top_;  // by class; top_: for a price of 0
    bool tops_are_known_ = false;
    std::vector<uint32_t> rank_, run_;  // by source
    std::vector<uint32_t> run_size_;    // by run
    std::unique_ptr<ValueTable> past_;
};

std::vector<Job> TileSearch::jobs_of(std::span<const uint32_t> sources) const {
    std::vector<Job> jobs(sources.size());
    const bool all = sources.size() == rank_.size() &&
                     std::is_sorted(sources.begin(), sources.end(), std::less_equal<>());
    if (all) {  // no need to sort
        for (uint32_t k = 0; k < sources.size(); ++k)
            jobs[rank_[sources[k]]] = {rank_[sources[k]], k};
        return jobs;
    }
    for (uint32_t k = 0; k < sources.size(); ++k) jobs[k] = {rank_[sources[k]], k};
    std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) {
        return a.rank != b.rank ? a.rank < b.rank : a.k < b.k;
    });
    return jobs;
}

TileSearch::Round TileSearch::round_at(double sought, double decided, double slack) {
    const bool at_zero_price = sought == 0;
    if (at_zero_price && !tops_are_known_) {
        const double far = 2 + 2 * tiles_.greatest_distance();
        std::vector<double> shifted(support_.count());
        for (size_t c = 0; c < top_.size(); ++c) {
            for (size_t p = 0; p < shifted.size(); ++p)
                shifted[p] = losses_[c].by_point[p] == losses_[c].most ? 0 : -far;
            top_[c].fill(shifted, tiles_, table_);
        }
        tops_are_known_ = true;
    }
    Round round;
    round.eta = at_zero_price ? 1 : decided;
    round.sought.resize(losses_.size());
    double largest = 0;
    for (const TileLosses& losses : losses_) largest = std::max(largest, losses.largest());
    round.rounding = rounding_of(largest);
    for (size_t c = 0; c < losses_.size(); ++c)
        round.sought[c].fill(at_zero_price ? top_[c] : losses_[c], at_zero_price ? 1 : sought,
                             slack + round.rounding, tiles_, table_);
    return round;
}

/// run(jobs of one row and label, row, worker), over all threads. What the workers picked.
template <class Run>
std::vector<std::vector<TileSearch::Picked>> TileSearch::for_runs(const std::vector<Job>& jobs,
                                                                  std::span<const uint32_t> sources,
                                                                  const Run& run) {
    ++counts.evaluations;
    counts.pairs += static_cast<uint64_t>(sources.size()) * support_.count();
    const auto key = [&](const Job& job) {
        const Source& source = support_.sources[sources[job.k]];
        return std::pair(row_of(source), source.label);
    };
    std::vector<size_t> starts;  // first job of each chunk, where a run begins
    for (size_t at = 0; at < jobs.size(); ++at) {
        const bool begins = at == 0 || key(jobs[at]) != key(jobs[at - 1]);
        if (begins && (starts.empty() || at - starts.back() >= kJobs)) starts.push_back(at);
    }
    starts.push_back(jobs.size());
    std::vector<SearchCounts> parts(starts.size());
    std::vector<std::vector<Picked>> picked(starts.size());
    for_chunks(pool_, starts.size() - 1, 1, [&](size_t chunk, size_t, size_t) {
        Worker worker;
        worker.found.resize(table_.padded_columns());
        for (size_t at = starts[chunk]; at < starts[chunk + 1];) {
            size_t end = at + 1;
            while (end < starts[chunk + 1] && key(jobs[end]) == key(jobs[at])) ++end;
            run(std::span(jobs).subspan(at, end - at), key(jobs[at]).first, worker);
            at = end;
        }
        parts[chunk] = worker.counts;
        picked[chunk] = std::move(worker.picked);
    });
    for (const SearchCounts& part : parts) {
        counts.screened += part.screened;
        counts.decided += part.decided;
    }
    return picked;
}

/// Finds the columns that may improve one of the queries, which share a row and a label.
size_t TileSearch::scan(const Round& round, std::span<Query> queries, size_t row, Worker& worker) {
    const PricedLosses& priced = round.sought[queries[0].source->label];
    const size_t found =
        kernels_.scan(table_.row(row), table_.padded_columns(), priced.greatest.data(),
                      priced.steps_of_best(least_of(queries)), worker.found.data());
    if (!table_.by_point())
        for (size_t f = 0; f < found; ++f) table_.refine(row, worker.found[f]);
    return found;
}

void TileSearch::search_run(const Round& round, std::span<Query> queries, size_t row,
                            Worker& worker) {
    const size_t found = scan(round, queries, row, worker);
    for (Query& query : queries) seek(round, query, row, found, worker);
}

void TileSearch::seek(const Round& round, Query& query, size_t row, size_t found,
                      Worker& worker) const {
    const uint16_t* const steps = table_.row(row);
    const size_t in_column = table_.tiles_in_column();
    // the most promising first: what it yields rules others out
    size_t first = 0;
    if (found > 2) {
        const PricedLosses& priced = round.sought[query.source->label];
        int most = -1;
        for (size_t f = 0; f < found; ++f) {
            const uint32_t column = worker.found[f];
            const int reach = priced.greatest[column] - steps[column];
            if (reach <= most) continue;
            most = reach;
            first = f;
        }
    }
    const auto visit_column = [&](uint32_t column) {
        const size_t end = std::min(tiles_.count(), (column + 1) * in_column);
        for (size_t tile = column * in_column; tile < end; ++tile)
            visit(round, query, tile, steps[column], worker);
    };
    if (found > 2) visit_column(worker.found[first]);
    for (size_t f = 0; f < found; ++f)
        if (found <= 2 || f != first) visit_column(worker.found[f]);
}

void TileSearch::visit(const Round& round, Query& query, size_t tile, uint16_t steps,
                       Worker& worker) const {
    const Source& source = *query.source;
    const PricedLosses& priced = round.sought[source.label];
    const double least = table_.distance(steps), wanted = query.sought();
    // screen_slack is more than these few operations round
    if (priced.losses->by_tile[tile] - priced.eta * least < wanted - priced.screen_slack) return;
    worker.counts.screened += kLanes;
    const Screen screen{priced.losses->by_slot.data() + tile * kLanes, priced.eta_down,
                        priced.screen_of_best(wanted), static_cast<float>(least * kJustBelow)};
    uint32_t open =
        kernels_.screen(tiles_, tile, tiles_.row(tiles_.slot_of_point()[source.point]), screen);
    decide(round, query, tile, open, worker);
}

void TileSearch::decide(const Round& round, Query& query, size_t tile, uint32_t open,
                        Worker& worker) const {
    const Source& source = *query.source;
    const double eta = round.sought[source.label].eta;
    for (; open != 0; open &= open - 1) {
        const auto lane = static_cast<size_t>(__builtin_ctz(open));
        const uint32_t point = tiles_.order()[tile * kLanes + lane];
        if (point == Tiles::kNoPoint) continue;
        ++worker.counts.decided;
        const double exact = squared_distance(support_.at(source.point), support_.at(point));
        const Candidate other = candidate(round, round.eta, source, point, exact);
        if (other.beats(query.best)) query.best = other;
        if (query.collected != nullptr)
            query.collected->push_back(candidate(round, eta, source, point, exact));
    }
}

/// Evaluates all of a tile and returns an upper bound of its values.
double TileSearch::evaluate_tile(const Round& round, Query& query, size_t tile,
                                 Worker& worker) const {
    const Source& source = *query.source;
    const PricedLosses& priced = round.sought[source.label];
    const double tolerance = kBoundTolerance * (priced.losses->most - priced.losses->least);
    worker.counts.screened += kLanes;
    const Screen screen{priced.losses->by_slot.data() + tile * kLanes, priced.eta_down,
                        priced.screen_of_best(query.sought()), 0,
                        priced.screen_of_best(query.sought() - tolerance)};
    const Look look =
        kernels_.look(tiles_, tile, tiles_.row(tiles_.slot_of_point()[source.point]), screen);
    decide(round, query, tile, look.open, worker);
    // what single precision may have taken off
    const auto most = static_cast<double>(look.most);
    return most + priced.screen_slack + std::ldexp(std::abs(most), -21);
}

void TileSearch::evaluate_column(const Round& round, std::span<Query> queries, size_t run,
                                 size_t row, uint32_t column, Worker& worker) {
    const PricedLosses& priced = round.sought[queries[0].source->label];
    const double away = priced.eta * table_.distance(table_.refine(row, column));
    // rounding: more than these few operations round
    const auto bound = [&](double loss) { return loss - away + round.rounding; };
    if (bound(priced.losses->by_column[column]) < least_of(queries)) return;
    const size_t in_column = table_.tiles_in_column();
    const size_t end = std::min(tiles_.count(), (column + 1) * in_column);
    double most = -std::numeric_limits<double>::infinity();
    for (size_t tile = column * in_column; tile < end; ++tile) {
        const double at_most = bound(priced.losses->by_tile[tile]);
        for (Query& query : queries)
            most = std::max(most, at_most < query.sought()
                                      ? at_most
                                      : evaluate_tile(round, query, tile, worker));
    }
    if (queries.size() == run_size_[run]) past_->note(run, column, most, priced.eta);
}

/// Evaluates the tiles whose remembered bound does not rule them out.
void TileSearch::refine_neighbours(const Round& round, std::span<Query> queries, size_t run,
                                   size_t row, Worker& worker) {
    const size_t label = queries[0].source->label;
    const PricedLosses& priced = round.sought[label];
    const double least = least_of(queries);
    const size_t found =
        kernels_.scan_unknown(table_.row(row), table_.padded_columns(), priced.greatest.data(),
                              priced.steps_of_best(least), past_->row(run), past_->rise(label),
                              past_->steps_of_sought(run, least, priced.eta), worker.found.data());
    // the most promising first: what it yields rules others out
    size_t first = 0;
    int most = -1;
    for (size_t f = 0; f < found; ++f) {
        const uint32_t column = worker.found[f];
        const int reach = priced.greatest[column] - table_.row(row)[column];
        if (reach <= most) continue;
        most = reach;
        first = f;
    }
    if (found > 0) evaluate_column(round, queries, run, row, worker.found[first], worker);
    for (size_t f = 0; f < found; ++f)
        if (f != first) evaluate_column(round, queries, run, row, worker.found[f], worker);
}

void TileSearch::window(double lo, double hi, std::span<const uint32_t> sources,
                        std::span<const Choice> guesses, Window& out) {
    const Round round = round_at(lo, hi, 0);
    std::vector<uint32_t> counted(sources.size());
    const auto parts = for_runs(
        jobs_of(sources), sources, [&](std::span<const Job> jobs, size_t row, Worker& worker) {
            worker.queries.clear();
            if (worker.collected.size() < jobs.size()) worker.collected.resize(jobs.size());
            for (size_t j = 0; j < jobs.size(); ++j) {
                Query query = query_of(round, sources[jobs[j].k], guesses[jobs[j].k]);
                query.slack = round.rounding;
                worker.collected[j].clear();
                query.collected = &worker.collected[j];
                worker.queries.push_back(query);
            }
            if (past_->remembers()) {
                refine_neighbours(round, worker.queries, run_[sources[jobs[0].k]], row, worker);
            } else {
                search_run(round, worker.queries, row, worker);
            }
            for (size_t j = 0; j < jobs.size(); ++j) {
                for (const Candidate& one : worker.collected[j]) {
                    if (one.value < worker.queries[j].sought()) continue;
                    worker.picked.push_back({jobs[j].k, {one.point, one.squared_distance}});
                    ++counted[jobs[j].k];
                }
            }
        });
    out.first.assign(1, 0);
    for (const uint32_t count : counted) out.first.push_back(out.first.back() + count);
    out.found.resize(out.first.back());
    std::vector<uint64_t> next(out.first.begin(), out.first.end() - 1);
    for (const auto& part : parts)
        for (const Picked& picked : part) out.found[next[picked.k]++] = picked.choice;
}

void TileSearch::near(double eta, double slack, std::span<const uint32_t> sources,
                      const NearVisitor& visitor) {
    if (eta == 0) return near_optimal_at_zero_price(slack, sources, visitor);
    std::vector<Choice> bests(sources.size());
    best(eta, sources, bests);
    const Round round = round_at(eta, eta, slack);
    for_runs(jobs_of(sources), sources, [&](std::span<const Job> jobs, size_t row, Worker& worker) {
        std::vector<Candidate> collected;
        for (const Job& job : jobs) {
            collected.clear();
            Query query = query_of(round, sources[job.k], bests[job.k]);
            query.slack = slack;
            query.collected = &collected;
            search_run(round, std::span(&query, 1), row, worker);
            std::erase_if(collected,
                          [&](const Candidate& one) { return one.value < query.sought(); });
            visitor(job.k, collected);
        }
    });
}

/// At a price of 0 the same points are near-optimal for every source with a label.
void TileSearch::near_optimal_at_zero_price(double slack, std::span<const uint32_t> sources,
                                            const NearVisitor& visitor) {
    ++counts.evaluations;
    counts.pairs += static_cast<uint64_t>(sources.size()) * support_.count();
    std::vector<std::vector<uint32_t>> near_points(losses_.size());
    for (size_t c = 0; c < losses_.size(); ++c)
        for (uint32_t p = 0; p < support_.count(); ++p)
            if (losses_[c].by_point[p] >= losses_[c].most - slack) near_points[c].push_back(p);
    for (const uint32_t k : sources)
        counts.decided += near_points[support_.sources[k].label].size();
    for_chunks(pool_, sources.size(), kJobs, [&](size_t, size_t first, size_t last) {
        std::vector<Candidate> found;
        for (size_t k = first; k < last; ++k) {
            const Source& source = support_.sources[sources[k]];
            found.clear();
            for (const uint32_t p : near_points[source.label]) {
                const double distance = squared_distance(support_.at(source.point), support_.at(p));
                found.push_back({losses_[source.label].by_point[p], distance,
                                 targets_->row_of(source.label, p), p});
            }
            visitor(k, found);
        }
    });
}

}  // namespace

std::unique_ptr<Search> make_tile_search(const SupportPoints& points, int classes,
                                         model::InstructionSet instructions, size_t tiles_in_group,
                                         size_t bytes_to_remember, base::ThreadPool* pool) {
    return std::make_unique<TileSearch>(points, classes, instructions, tiles_in_group,
                                        bytes_to_remember, pool);
}

size_t bytes_of_tile_search(const SupportPoints& points, int classes, size_t tiles_in_group) {
    const size_t n = points.count();
    const size_t table = tiles_in_group == 0 ? DistanceTable::bytes_by_point(n)
                                             : DistanceTable::bytes_by_group(n, tiles_in_group);
    const size_t slots = (n + kLanes - 1) / kLanes * kLanes;
    const size_t coordinates = points.dimensions + (points.dimensions + 7) / 8 * 8;
    const size_t of_a_class = 3 * sizeof(double) + 2 * sizeof(float);
    return table +
           slots * (coordinates * sizeof(float) + 2 * sizeof(uint32_t) +
                    static_cast<size_t>(classes) * of_a_class) +
           points.sources.size() * 2 * sizeof(uint32_t);
}

}  // namespace rampart::budro
