#pragma once

#include <atomic>
#include <boost/json/fwd.hpp>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "fault/chaos/load.hpp"
#include "fault/chaos/node.hpp"
#include "fault/chaos/oracle.hpp"

namespace rampart::chaos {

/// The learning side of a deployment as in production: a node that joins, trains and erases, under
/// faults; one that joins the same log and gets none; and old customers, who are erased one after
/// the other while the load goes on. Main thread only; erasures have a thread of their own.
class Service {
  public:
    /// `learner` and `reader` are configured and started by open(). `customers`: old ones.
    Service(Node& learner, Node& reader, const Routes& routes, Oracle& oracle,
            const loan_stream::Stream& stream, base::TimePoint start, size_t customers);
    ~Service();

    Node& learner() { return learner_; }
    /// Called at each wait for an answer.
    void tend_with(std::function<void()> tend) { tend_ = std::move(tend); }
    /// Starts both nodes.
    base::Status open();
    /// Has the old customers decided, at nodes whose wall clock is more than a month behind.
    void decide_old_customers(Asker& asker);

    void resume_erasing();
    /// Returns when the erasure under way has ended.
    void pause_erasing();
    uint64_t erased() const { return next_; }
    uint64_t customers() const { return old_.size(); }

    /// Waits until the learner's joined state is that of the reader without faults and has the
    /// decisions of the log without the erased ones; otherwise there are violations. The load and
    /// erasures have to stand still.
    void compare(const DecisionLog& log, const std::string& after);
    /// Old customers: those that are erased have no decision, the others have theirs. `most`: so
    /// many of each, those about whom it changed last.
    void ask_old_customers(Asker& asker, size_t most);
    /// After a jump of a node's clock: says that it is right again, as a person does.
    void accept_clock(Node& node);
    /// Returns how many runs of training there were.
    size_t runs();
    /// Deletes the joined states of the learner and has them made anew from the log.
    void join_anew();
    /// Decisions that were joined and are not those of the log.
    uint64_t doubled() const { return doubled_; }

  private:
    void work();
    void erase(const domain::Application& one, Asker& asker);
    /// Asks until there is an answer of 200. Empty: there was none, which is a violation.
    std::string ask(Node& node, std::string_view target, const std::string* body = nullptr);
    std::string differs(const DecisionLog& log);

    Node& learner_;
    Node& reader_;
    const Routes& routes_;
    Oracle& oracle_;
    Asker asker_;
    std::function<void()> tend_ = [] {};
    std::vector<domain::Application> old_;  // one of each old customer
    std::atomic<uint64_t> next_ = 0;        // those before are erased
    uint64_t doubled_ = 0;

    std::mutex mutex_;
    std::condition_variable changed_;
    bool running_ = false, busy_ = false, ending_ = false;
    std::thread thread_;
};

}  // namespace rampart::chaos
