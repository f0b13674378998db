#include "services/rampartd/api/list_part.hpp"

#include <algorithm>

#include "rampart/protected_attributes/reasons.hpp"
#include "services/rampartd/api/bodies.hpp"

namespace rampart::rampartd {
namespace {

constexpr int64_t kMostNumber = (int64_t{1} << 53) - 1;  // that every reader of JSON has exactly

}  // namespace

base::Result<ListPart> read_list_part(const std::map<std::string, std::string>& query,
                                      size_t size) {
    size_t limit = kMostListed, end = size;
    for (const auto& [name, text] : query) {
        if (name == "limit") {
            RAMPART_TRY(const auto read, number_of("$.limit", text, 1, kMostListed));
            limit = static_cast<size_t>(read);
        } else if (name == "cursor") {
            RAMPART_TRY(const auto read, number_of("$.cursor", text, 0, kMostNumber));
            end = std::min(size, static_cast<size_t>(read));
        } else {
            return base::make_error(protected_attributes::Reason::kUnknownField,
                                    "$.{}: is not a known parameter of the query", name);
        }
    }
    return ListPart{end - std::min(end, limit), end};
}

}  // namespace rampart::rampartd
