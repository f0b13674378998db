#include "rampart/loan_stream/stream.hpp"

#include <gtest/gtest.h>
