#include <algorithm>
#include <cmath>

#include "chunks.hpp"
#include "search.hpp"

namespace rampart::budro {
namespace {

constexpr size_t kSources = 64;  // sources of a chunk

/// What all other searches have to equal, written to be seen to be right.
class BruteForce : public Search {
  public:
    BruteForce(const SupportPoints& points, base::ThreadPool* pool)
        : support_(points), pool_(pool) {}

    void begin_round(const TargetLosses& losses) override { losses_ = &losses; }

    void best(double eta, std::span<const uint32_t> sources, std::span<Choice> choices) override {
        count(sources.size());
        for_chunks(pool_, sources.size(), kSources, [&](size_t, size_t first, size_t last) {
            for (size_t k = first; k < last; ++k) {
                const Source& source = support_.sources[sources[k]];
                Candidate best = candidate(eta, source, 0);
                for (uint32_t point = 1; point < support_.count(); ++point) {
                    const Candidate other = candidate(eta, source, point);
                    if (other.beats(best)) best = other;
                }
                choices[k] = {best.point, best.squared_distance};
            }
        });
    }

    void near(double eta, double slack, std::span<const uint32_t> sources,
              const NearVisitor& visit) override {
        count(sources.size());
        for_chunks(pool_, sources.size(), kSources, [&](size_t, size_t first, size_t last) {
            std::vector<Candidate> all, kept;
            for (size_t k = first; k < last; ++k) {
                const Source& source = support_.sources[sources[k]];
                all.clear();
                kept.clear();
                double most = -1e300;
                for (uint32_t point = 0; point < support_.count(); ++point) {
                    all.push_back(candidate(eta, source, point));
                    most = std::max(most, all.back().value);
                }
                for (const Candidate& one : all)
                    if (one.value >= most - slack) kept.push_back(one);
                visit(k, kept);
            }
        });
    }

    void window(double lo, double hi, std::span<const uint32_t> sources, std::span<const Choice>,
                Window& out) override {
        count(sources.size());
        std::vector<std::vector<Choice>> found(sources.size());
        for_chunks(pool_, sources.size(), kSources, [&](size_t, size_t first, size_t last) {
            for (size_t k = first; k < last; ++k) {
                const Source& source = support_.sources[sources[k]];
                double most = -1e300, largest = 0;
                for (uint32_t point = 0; point < support_.count(); ++point) {
                    most = std::max(most, candidate(hi, source, point).value);
                    largest = std::max(largest, std::abs(losses_->loss_of(source.label, point)));
                }
                for (uint32_t point = 0; point < support_.count(); ++point) {
                    const Candidate one = candidate(lo, source, point);
                    if (one.value >= most - rounding_of(largest))
                        found[k].push_back({point, one.squared_distance});
                }
            }
        });
        out.first.assign(1, 0);
        out.found.clear();
        for (const auto& some : found) {
            out.found.insert(out.found.end(), some.begin(), some.end());
            out.first.push_back(out.found.size());
        }
    }

    size_t bytes() const override { return sizeof *this; }

  private:
    Candidate candidate(double eta, const Source& source, uint32_t point) const {
        const double distance = squared_distance(support_.at(source.point), support_.at(point));
        return {losses_->loss_of(source.label, point) - eta * distance, distance,
                losses_->row_of(source.label, point), point};
    }

    void count(size_t sources) {
        ++counts.evaluations;
        const uint64_t pairs = static_cast<uint64_t>(sources) * support_.count();
        counts.pairs += pairs;
        counts.decided += pairs;
    }

    const SupportPoints& support_;
    base::ThreadPool* pool_;
    const TargetLosses* losses_ = nullptr;
};

}  // namespace

std::unique_ptr<Search> make_brute_force(const SupportPoints& points, base::ThreadPool* pool) {
    return std::make_unique<BruteForce>(points, pool);
}

}  // namespace rampart::budro
