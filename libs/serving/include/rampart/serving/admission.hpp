#pragma once

#include <cstddef>
#include <mutex>

#include "rampart/base/result.hpp"

namespace rampart::serving {

/// A bound on the work that is under way: what does not fit is refused at once, so that memory and
/// waiting time stay bounded when more comes in than the log takes. Thread safe.
class Admission {
  public:
    Admission(size_t max_items, size_t max_bytes) : max_items_(max_items), max_bytes_(max_bytes) {}

    /// Holds its room until it goes. Must not outlive the Admission.
    class Place {
      public:
        Place(Place&& other) noexcept;
        Place& operator=(Place&&) = delete;
        ~Place();

      private:
        friend class Admission;
        Place(Admission& owner, size_t items, size_t bytes)
            : owner_(&owner), items_(items), bytes_(bytes) {}
        Admission* owner_;
        size_t items_, bytes_;
    };

    /// resource_exhausted "overloaded". A request that is alone is admitted, whatever its size.
    base::Result<Place> enter(size_t items, size_t bytes);

  private:
    const size_t max_items_, max_bytes_;
    mutable std::mutex mutex_;
    size_t items_ = 0, bytes_ = 0;
};

}  // namespace rampart::serving
