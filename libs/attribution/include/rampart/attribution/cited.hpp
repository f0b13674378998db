#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "rampart/attribution/shapley.hpp"

namespace rampart::attribution {

inline constexpr size_t kMostCited = 4;

/// What a decline came from. u is the decision's draw, r the nearest reference row.
enum class DeclinedBy {
    kFeatures,  // P(x) = 0: no draw would have approved
    /// 0 < P(x) <= u, and u < P(r) or P with the cited units restored; also where neither is, and
    /// the sets were too many to look at all of them, so that one may reach u.
    kFeaturesAndDraw,
    kDraw,  // 0 < P(x), and neither P(r) nor any set reaches u: this draw declines those like r
    kExploration,  // without exploration this draw would have approved: no feature is a reason
};
/// "features", "features_and_draw", "draw", "exploration"
std::string_view to_string(DeclinedBy by);

/// The reasons of a decline. What they claim: restoring the cited units to the values of r raises P
/// above u (`reaches`), or by the most that any set of at most kMostCited units that lower P can
/// (where not `exact`: any that was looked at); leaving one of them out does not. Each of them
/// lowers P by its Shapley value against the set.
struct Cited {
    /// Numbers of units: first the one whose restoration alone raises P most, then the others by
    /// Shapley value, larger first; ties by number. Empty: none lowers P so that restoring it
    /// helps, or exploration declined.
    std::vector<size_t> units{};
    DeclinedBy by = DeclinedBy::kFeatures;
    double p_restored = 0;   // P with the cited units restored
    double p_reference = 0;  // P(r)
    bool reaches = false;    // p_restored > u
    bool others = false;     // restoring every unit raises P further: "among others"
    bool exact = true;       // every set was looked at; else greedily, and a smaller may do
};

/// Finds the reasons of a decline with draw u. Of the smallest sets that reach u it takes the one
/// that raises P most; where none does, the smallest of those that raise it most. All sets of the
/// units that lower P and differ from r are tried up to kExactUnits of them; above, the unit that
/// raises P most is added again and again, and what is not needed taken out. Where that does not
/// reach u and P(r) does not either, all sets of up to 20 units are tried. p_exploit: P(x)
/// without exploration.
Cited cited_reasons(const Probability& p, std::span<const float> row,
                    std::span<const float> reference, std::span<const Unit> units,
                    const ShapleyValues& values, double p_exploit, double u);

}  // namespace rampart::attribution
