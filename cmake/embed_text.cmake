# Text files as string literals of the program.
#   hedgerow_embed_text(TARGET HEADER header NAMESPACE namespace VARIABLES name=file …)
# adds a generated source to the target that defines, in the namespace, what the header declares:
#   extern const std::string_view name;
# As a script (cmake -P) it writes that source.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "// Made by cmake/embed_text.cmake.\n#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n")
  foreach(variable IN LISTS VARIABLES)
    string(REGEX MATCH "^([^=]*)=(.*)$" matched "${variable}")
    set(name "${CMAKE_MATCH_1}")
    file(READ "${CMAKE_MATCH_2}" content)
    string(FIND "${content}" ")embedded\"" end)
    if(NOT end EQUAL -1)
      message(FATAL_ERROR "${CMAKE_MATCH_2} holds what ends a literal")
    endif()
    string(APPEND text "const std::string_view ${name} = R\"embedded(${content})embedded\";\n")
  endforeach()
  string(APPEND text "}  // namespace ${NAMESPACE}\n")
  file(WRITE "${OUTPUT}" "${text}")
  return()
endif()

set(HEDGEROW_EMBED_TEXT "${CMAKE_CURRENT_LIST_FILE}")

function(hedgerow_embed_text target)
  cmake_parse_arguments(EMBED "" "HEADER;NAMESPACE" "VARIABLES" ${ARGN})
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.cpp")
  set(files)
  foreach(variable IN LISTS EMBED_VARIABLES)
    string(REGEX REPLACE "^[^=]*=" "" file "${variable}")
    list(APPEND files "${file}")
  endforeach()
  add_custom_command(OUTPUT "${output}"
    COMMAND ${CMAKE_COMMAND} "-DHEADER=${EMBED_HEADER}" "-DNAMESPACE=${EMBED_NAMESPACE}" "-DVARIABLES=${EMBED_VARIABLES}"
      "-DOUTPUT=${output}" -P "${HEDGEROW_EMBED_TEXT}"
    DEPENDS ${files} "${HEDGEROW_EMBED_TEXT}" VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()
