#include "rampart/certification/verdict.hpp"

#include <algorithm>
#include <array>

#include "rampart/base/check.hpp"

namespace rampart::certification {

std::string_view to_string(Verdict verdict) {
    switch (verdict) {
        case Verdict::kCertified:
            return "CERTIFIED";
        case Verdict::kNoSolutionFound:
            return "NO_SOLUTION_FOUND";
        case Verdict::kRefused:
            return "REFUSED";
        case Verdict::kIdentical:
            return "IDENTICAL";
    }
    RAMPART_CHECK(false, "verdict {}", static_cast<int>(verdict));
}

std::optional<Verdict> verdict_of(std::string_view text) {
    constexpr std::array kAll{Verdict::kCertified, Verdict::kNoSolutionFound, Verdict::kRefused,
                              Verdict::kIdentical};
    const auto found = std::find_if(kAll.begin(), kAll.end(),
                                    [&](Verdict verdict) { return to_string(verdict) == text; });
    return found == kAll.end() ? std::nullopt : std::optional(*found);
}

}  // namespace rampart::certification
