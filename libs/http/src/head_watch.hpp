#pragma once

#include <cstddef>
#include <string_view>

namespace rampart::http {

/// Sees the bytes of a request's line and headers, as they come: how many they are, and whether a
/// header goes on in the next line (obs-fold, RFC 9112 section 5.2): readers on the way differ in
/// what they make of it.
class HeadWatch {
  public:
    void see(std::string_view bytes) {
        size_ += bytes.size();
        for (const char c : bytes) {
            folded_ = folded_ || (line_begins_ && lines_ > 0 && (c == ' ' || c == '\t'));
            line_begins_ = c == '\n';
            if (line_begins_) ++lines_;
        }
    }
    bool folded() const { return folded_; }
    size_t size() const { return size_; }

  private:
    bool line_begins_ = true, folded_ = false;
    size_t lines_ = 0, size_ = 0;
};

}  // namespace rampart::http
