#include "services/rampartd/explanations.hpp"

#include <algorithm>

#include "rampart/base/histogram.hpp"
#include "rampart/base/log.hpp"
#include "rampart/decision_log/reasons.hpp"
#include "rampart/notices/reasons.hpp"
#include "rampart/runtime/metric_list.hpp"
#include "services/rampartd/explanation_document.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using decision_log::DecisionIndex;
using domain::DecisionId;
namespace metric = runtime::metric;

namespace {

constexpr base::Logger kLog("explanations");
constexpr char kFormat = 1;  // before each stored document

/// One of kAtOnce, for as long as it lives.
struct Turn {
    explicit Turn(std::atomic<int>& taking)
        : taking_(taking), taken(taking.fetch_add(1) < Explanations::kAtOnce) {}
    ~Turn() { taking_.fetch_sub(1); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    std::atomic<int>& taking_;

  public:
    const bool taken;
};

/// Returns the document of what is stored.
Result<std::string> opened(const DecisionId& decision, const std::string& bytes) {
    if (!bytes.empty() && bytes.front() == kFormat) return bytes.substr(1);
    return base::make_error(notices::Reason::kUnknownCode,
                            "decision {}: its stored explanation has a form that this release does "
                            "not know",
                            decision);
}

}  // namespace

size_t DeclinesToExplain::add(std::span<const DecisionId> decisions) {
    const std::lock_guard lock(mutex_);
    const size_t taken = std::min(decisions.size(), kMostWaiting - waiting_.size());
    const auto some = decisions.first(taken);
    waiting_.insert(waiting_.end(), some.begin(), some.end());
    return decisions.size() - taken;
}

std::optional<DecisionId> DeclinesToExplain::next() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return std::nullopt;
    auto first = std::move(waiting_.front());
    waiting_.pop_front();
    return first;
}

size_t DeclinesToExplain::size() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
}

Explanations::Explanations(Deps deps) : deps_(std::move(deps)), explainer_(deps_.explain) {
    auto& metrics = deps_.metrics;  // there from the start on
    metrics.counter(metric::kExplanations, {{"when", "after_answer"}});
    metrics.counter(metric::kExplanations, {{"when", "at_read"}});
    metrics.counter(metric::kExplanationsFailed);
    metrics.counter(metric::kExplanationsPassedOver);
    metrics.gauge(metric::kExplanationsWaiting);
    metrics.histogram(metric::kExplanationSeconds, base::latency_bounds());
}

void Explanations::declined(std::span<const DecisionId> decisions) {
    if (const size_t passed_over = waiting_.add(decisions); passed_over > 0)
        deps_.metrics.counter(metric::kExplanationsPassedOver).add(passed_over);
}

/// Forgets applicants when an index has taken in an erasure since.
void Explanations::forget_erased() {
    uint64_t now = 0;
    auto& decisions = deps_.explain.decisions;
    for (const auto& view : decisions.partitions())
        if (const auto* index = decisions.index_of(view.partition)) now += index->erasing_writes();
    if (erased_.exchange(now) != now) explainer_.forget();
}

/// Returns the index that holds the decision; nullptr: it was given up.
DecisionIndex* Explanations::home_of(const domain::Decision& decision) const {
    auto& decisions = deps_.explain.decisions;
    return decisions.index_of(decisions.partition_of(decision.application.id));
}

/// Returns what is to be stored.
Result<std::string> Explanations::make(domain::Decision decision, When when,
                                       const std::function<bool()>& stopping) {
    const auto start = std::chrono::steady_clock::now();
    auto explained = explainer_.explain(std::move(decision), {}, stopping);
    if (!explained) {
        deps_.metrics.counter(metric::kExplanationsFailed).add();
        return explained.error();
    }
    auto& metrics = deps_.metrics;
    metrics.histogram(metric::kExplanationSeconds, base::latency_bounds())
        .observe(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    const char* word = when == When::kAtRead ? "at_read" : "after_answer";
    metrics.counter(metric::kExplanations, {{"when", word}}).add();
    return kFormat + to_json(*explained);
}

Status Explanations::work(const std::function<bool()>& stopping) {
    forget_erased();
    const auto end = std::chrono::steady_clock::now() + kRound;
    std::map<DecisionIndex*, std::vector<DecisionIndex::Explanation>> made;
    while (!stopping() && std::chrono::steady_clock::now() < end) {
        const auto id = waiting_.next();
        if (!id) break;
        auto decision = deps_.explain.decisions.find(*id);
        if (!decision) continue;  // erased, or of another node by now
        auto* index = home_of(*decision);
        if (index == nullptr) continue;
        RAMPART_TRY(const auto known, index->explanation(*id));
        if (known) continue;
        auto bytes = make(*std::move(decision), When::kAfterAnswer, stopping);
        if (bytes) {
            made[index].push_back({*id, *std::move(bytes)});
        } else if (bytes.error().reason != failed_last_) {
            failed_last_ = bytes.error().reason;
            kLog.warning("msg=\"a decline was not explained\" decision={} reason={} what=\"{}\"",
                         *id, bytes.error().reason, bytes.error().message);
        }
    }
    for (const auto& [index, explanations] : made)
        RAMPART_RETURN_IF_ERROR(index->keep_explanations(explanations));
    deps_.metrics.gauge(metric::kExplanationsWaiting).set(static_cast<double>(waiting_.size()));
    return base::ok();
}

Result<std::string> Explanations::of(const DecisionId& id) {
    forget_erased();
    auto& decisions = deps_.explain.decisions;
    RAMPART_TRY(const auto decision, decisions.find(id));
    if (auto* index = home_of(decision)) {
        RAMPART_TRY(const auto known, index->explanation(id));
        if (known) return opened(id, *known);
        const Turn turn(at_read_);
        if (!turn.taken)
            return base::make_error(Reason::kExplanationsBusy,
                                    "decision {}: {} explanations are being worked out", id,
                                    kAtOnce);
        RAMPART_TRY(auto bytes, make(decision, When::kAtRead));
        const DecisionIndex::Explanation one{id, std::move(bytes)};
        RAMPART_RETURN_IF_ERROR(index->keep_explanations({&one, 1}));
        RAMPART_TRY(const auto kept, index->explanation(id));  // the first stays
        if (kept) return opened(id, *kept);
    }
    // erased or given up meanwhile
    RAMPART_RETURN_IF_ERROR(decisions.find(id));
    return base::make_error(decision_log::Reason::kPartitionRebuilding,
                            "decision {}: its partition's index is being made anew", id);
}

}  // namespace rampart::rampartd
