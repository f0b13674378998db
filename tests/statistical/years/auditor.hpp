#pragma once

#include <map>
#include <optional>
#include <string>

#include "statistical/years/lender.hpp"

namespace rampart::years {

/// What a life came to, by the lender's own books and the world's truth.
struct Findings {
    std::string world;
    int look_again = 0;
    int epochs = 0;        // that registered a run
    int runs = 0;          // records of runs, further looks among them
    int charged = 0;       // first looks that were registered
    int looks = 0;         // further looks that were registered
    int certified = 0;     // certificates
    int false_vault = 0;   // where by the truth a group of the vault's people is worse off
    int false_others = 0;  // or the people from whom they were drawn, where these are claimed
    int false_epochs = 0;  // epochs with one of either
    int first_week = 0;    // week of the first certificate; 0: none
    int promotions = 0, rollbacks = 0;
    std::map<std::string, int> refusals;  // and ends of runs, by reason
    std::map<std::string, int> events;
};

/// The truth by which certificates are judged.
struct Truth {
    World world = World::kGood;
    bool turned = false;  // also of what was decided before the turn
};

/// Checks a life's ledger, audit log and certificates against the lender's books, record by record,
/// and judges each certificate by the truth: by default that of the life. Errors: what does not
/// agree.
base::Result<Findings> audit(Lender& lender, std::optional<Truth> truth = std::nullopt);

std::string encode(const Findings& findings);  // one line
std::optional<Findings> decode(const std::string& line);

}  // namespace rampart::years
