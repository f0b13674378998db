#pragma once

#include <string>
#include <vector>

#include "rampart/report/text_table.hpp"

namespace rampart::cli {

/// Two people who are alike and are not treated alike.
struct AuditedPair {
    size_t person = 0, other = 0;  // rows of the table, from 1
    std::string label;             // of the person: "repaid = yes"
    double score = 0, other_score = 0, approve = 0, other_approve = 0;
    double distance = 0, mass = 0, excess = 0;
    struct Difference {
        std::string feature, own, other;
    };
    std::vector<Difference> differences;  // the largest first
    size_t more = 0;                      // differences that are not listed
};

/// "Row 17 (repaid = yes; score 0.710, approved) against row 203 (…)", then what differs.
std::string pair_text(const AuditedPair& pair);

/// One HTML file: the certificate, consistency, and the pairs: over the scores, by distance, in
/// words.
std::string audit_page(const std::string& title, const std::string& summary,
                       const report::Table& table, const std::vector<AuditedPair>& pairs);

}  // namespace rampart::cli
