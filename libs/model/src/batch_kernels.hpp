#pragma once

#include <cstddef>
#include <cstdint>

#include "cut_columns.hpp"
#include "rampart/model/batch_engine.hpp"

/// Inner loops of BatchEngine: portable C++, and a version for each instruction set.
namespace rampart::model {

inline constexpr size_t kBlock = 64;  // rows

/// A split of one tree. left, right, column: offsets into the block's arena, of kBlock bytes.
struct BlockNode {
    uint32_t column;
    uint32_t left, right;
    uint8_t cut;
};

/// A categorical split over at most 128 codes. out byte: 0 for members, otherwise 255.
struct MemberTest {
    uint32_t index, bit;  // offsets: code / 8 (0x80: not one of these codes) and 1 << code % 8
    uint32_t out;         // offset
    uint8_t first;        // 0: keeps members found by earlier tests
    uint8_t bits[16];     // the set
};

struct BatchKernels {
    /// Sets right[i] = byte of x[i], i < kBlock: missing is above every cut, for nodes that send it
    /// right. left: the same with 0 for missing.
    void (*bin)(const CutColumns& all, const CutColumn& column, const float* x, uint8_t* right,
                uint8_t* left);
    void (*members)(const MemberTest* tests, size_t count, uint8_t* arena);
    /// Writes the result of nodes[i] to arena + out + i · kBlock.
    void (*select)(const BlockNode* nodes, size_t count, uint8_t* arena, uint32_t out);
};

const BatchKernels& batch_kernels(InstructionSet set);

}  // namespace rampart::model
