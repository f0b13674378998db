#include "rampart/serving/admission.hpp"

#include <utility>

#include "rampart/serving/reasons.hpp"

namespace rampart::serving {

Admission::Place::Place(Place&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)), items_(other.items_), bytes_(other.bytes_) {}

Admission::Place::~Place() {
    if (owner_ == nullptr) return;
    const std::lock_guard lock(owner_->mutex_);
    owner_->items_ -= items_;
    owner_->bytes_ -= bytes_;
}

base::Result<Admission::Place> Admission::enter(size_t items, size_t bytes) {
    const std::lock_guard lock(mutex_);
    const bool fits = items_ + items <= max_items_ && bytes_ + bytes <= max_bytes_;
    if (items_ > 0 && !fits) {
        return base::make_error(
            Reason::kOverloaded,
            "{} applications of {} bytes are being decided, and {} of {} bytes is the limit; retry "
            "later",
            items_, bytes_, max_items_, max_bytes_);
    }
    items_ += items;
    bytes_ += bytes;
    return Place(*this, items, bytes);
}

}  // namespace rampart::serving
