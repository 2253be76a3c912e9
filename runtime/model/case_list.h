/* THE list of layers that are composed of ops and have a name of their own for heed check. CMake reads it too and asks for
 * model/cases/<name>.c (heed_case_<name>) of each. */
HEED_CASE(positional_encoding)
