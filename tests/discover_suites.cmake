# Writes FILE for CTest: a test for each suite of the GoogleTest program PROGRAM, named PREFIX.Suite. One process
# for a suite, not for each of its tests: starting two thousand costs more than what they test.
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE list RESULT_VARIABLE result
                WORKING_DIRECTORY ${FOLDER})
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} cannot list its tests: ${result}")
endif()
string(REGEX REPLACE "[ \t]*#[^\n]*" "" list "${list}")  # the types of typed suites
string(REGEX MATCHALL "(^|\n)[^ \n]+\\.(\n|$)" suites "${list}")
set(script "")
foreach(suite IN LISTS suites)
  string(STRIP "${suite}" suite)
  string(REGEX REPLACE "\\.$" "" suite "${suite}")
  string(APPEND script "add_test([=[${PREFIX}.${suite}]=] [=[${PROGRAM}]=] [=[--gtest_filter=${suite}.*]=])\n"
                       "set_tests_properties([=[${PREFIX}.${suite}]=] PROPERTIES TIMEOUT 600 LABELS ${LABEL} WORKING_DIRECTORY [=[${FOLDER}]=])\n")
endforeach()
file(WRITE ${FILE} "${script}")
