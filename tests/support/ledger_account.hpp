#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "rampart/certification/delta_ledger.hpp"

namespace rampart::test {

/// The real ledger, through epochs of one submitter, opened as the service does: by_history with a
/// tenth of delta as the reserve.
class Account {
  public:
    Account(double delta, unsigned runs, certification::Spending spending)
        : delta_(delta), runs_(runs), spending_(spending) {}

    void open_epoch() {
        const double reserve = spending_ == certification::Spending::kByHistory ? delta_ / 10 : 0.0;
        keep(ledger_.next_epoch(delta_, runs_, spending_, "", base::TimePoint(), {}, reserve));
    }
    /// Returns the charge of the next run; none when the epoch is spent.
    std::optional<double> charge() const {
        const auto delta = ledger_.next_delta();
        return delta ? std::optional(*delta) : std::nullopt;
    }
    void register_run() {
        request_.candidate_id = fmt::format("candidate {}", ledger_.entries().size());
        request_.look = 0;
        keep(ledger_.next_registration(request_, base::TimePoint()));
    }
    /// Registers a further look, the n-th, at a candidate; by default the last one.
    void register_look() { register_look(request_.candidate_id, request_.look + 1); }
    void register_look(const std::string& candidate, uint32_t n) {
        request_.candidate_id = candidate;
        request_.look = n;
        keep(ledger_.next_registration(request_, base::TimePoint()));
    }
    const std::string& candidate() const { return request_.candidate_id; }
    void close(bool certified) {
        using certification::Verdict;
        keep(ledger_.next_closing(certified ? Verdict::kCertified : Verdict::kNoSolutionFound,
                                  std::string(64, 'a'), "", base::TimePoint()));
    }

  private:
    void keep(const base::Result<std::string>& entry) {
        if (!entry || !ledger_.append(*entry)) throw std::runtime_error("the ledger refuses");
    }
    double delta_;
    unsigned runs_;
    certification::Spending spending_;
    certification::DeltaLedger ledger_ = *certification::DeltaLedger::open({});
    certification::DeltaLedger::RunRequest request_{"", "reference", {}, "rule"};
};

}  // namespace rampart::test
