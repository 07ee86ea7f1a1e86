# How everything is compiled: warnings, sanitizers, and the faster tools where the machine has them.

# Several sources of a target are compiled as one: the headers are read and the templates worked out once for them all, which
# makes a whole build two to three times as fast, and the rebuild after an edit slower. The preset dev does without.
option(HEDGEROW_UNITY "Compile the sources of a target together, a dozen at a time" ON)
set(CMAKE_UNITY_BUILD ${HEDGEROW_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)

set(HEDGEROW_SANITIZE "" CACHE STRING "Sanitizers to build with: address (with undefined), thread, or empty")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Time stamps, also those in precompiled headers, say nothing where contents are compared; paths inside the project count from its root, so that what one
  # clone compiled serves the next (no object holds where the project lies, see hedgerow_options).
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${CCACHE_PROGRAM})
endif()

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

# One interface target carries what every target of ours is compiled with.
add_library(hedgerow_options INTERFACE)
target_compile_options(hedgerow_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
  -Werror -fno-omit-frame-pointer -fpch-preprocess -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
target_include_directories(hedgerow_options INTERFACE ${PROJECT_SOURCE_DIR})

if(HEDGEROW_SANITIZE STREQUAL "address")
  # Without the checks of each pointer that is followed: they nearly double the time of compiling, and a bad one is rarely news to
  # AddressSanitizer.
  target_compile_options(hedgerow_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=undefined
    -fno-sanitize=null,alignment,object-size,vptr,nonnull-attribute,returns-nonnull-attribute)
  target_link_options(hedgerow_options INTERFACE -fsanitize=address,undefined)
elseif(HEDGEROW_SANITIZE STREQUAL "thread")
  # g++ 12 warns of fences inside Asio that it cannot follow.
  target_compile_options(hedgerow_options INTERFACE -fsanitize=thread -Wno-tsan)
  target_link_options(hedgerow_options INTERFACE -fsanitize=thread)
elseif(NOT HEDGEROW_SANITIZE STREQUAL "")
  message(FATAL_ERROR "HEDGEROW_SANITIZE is address, thread, or empty; not '${HEDGEROW_SANITIZE}'")
endif()

if(HEDGEROW_UNITY)
  # A coroutine may hold what only its own source names; that source is not the main one here.
  target_compile_options(hedgerow_options INTERFACE -Wno-subobject-linkage)
endif()

# g++ 12 has false alarms of these kinds in optimised coroutine and variant code.
target_compile_options(hedgerow_options INTERFACE -Wno-maybe-uninitialized -Wno-mismatched-new-delete)
