# Language level, warnings, sanitizers and build speed, the same for every target.
option(RAMPART_TESTS "Build the tests" ON)
option(RAMPART_FUZZ "Build the fuzzers (preset fuzz)" OFF)
set(RAMPART_SANITIZE "" CACHE STRING "Sanitizers, comma separated: address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(RAMPART_RELEASE "-O2")                  # RAMPART_CHECK and assert stay on
# What is delivered stops at a memory fault that overwrites a stack frame, jumps over the guard page
# or leaves the buffer of a function of the C library, and marks where a jump may go. Tests, half of
# all files, do without.
set(CMAKE_CXX_FLAGS_RELEASE "${RAMPART_RELEASE} -fstack-protector-strong -fstack-clash-protection \
-D_FORTIFY_SOURCE=2")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    string(APPEND CMAKE_CXX_FLAGS_RELEASE " -fcf-protection=full")
endif()
# Debug information names sources from the root of the clone on, wherever that is: so ccache gives
# one clone what another has compiled, and each finds its own sources when it runs there.
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1 -fdebug-prefix-map=${CMAKE_SOURCE_DIR}=.")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_program(CCACHE ccache)
if(CCACHE)
    # Without this sloppiness it does not keep what is compiled with precompiled headers. With the
    # base directory all clones share what one has compiled, and with sums of the precompiled
    # headers (rampart_precompiled_sum) also what is compiled with those: their bytes differ each
    # time.
    set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros
        CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_PCH_EXTSUM=1 ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
    add_link_options(-fuse-ld=mold)
endif()

# Programs are position-independent, bind every symbol at the start, and make the tables of the
# linker read-only before main; no stack can be executed. tests/architecture reads their headers.
include(CheckPIESupported)
check_pie_supported()
add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)

# fp-contract=off: the same numbers whatever the compiler would like to fuse.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
    -Woverloaded-virtual -Werror -ffp-contract=off)
if(RAMPART_SANITIZE)
    add_compile_options(-fsanitize=${RAMPART_SANITIZE} -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${RAMPART_SANITIZE})
    if(RAMPART_SANITIZE MATCHES undefined)
        # these three cost minutes of compile time in Boost.Beast and find nothing there
        add_compile_options(-fno-sanitize=null,alignment,object-size,vptr
            -fno-sanitize-recover=undefined)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
        # g++ 12 sees phantom overflows in the standard library once sanitizers are on
        add_compile_options(-Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds
            -Wno-restrict)
        # Boost.Asio has a fence; what it orders, the sanitizer sees by the atomics beside it
        if(RAMPART_SANITIZE MATCHES "thread")
            add_compile_options(-Wno-tsan)
        endif()
    endif()
endif()
