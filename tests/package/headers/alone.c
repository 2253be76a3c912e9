/* Nothing but one header, twice: it must stand alone in every language that it promises. */
#include HEED_HEADER
#include HEED_HEADER

int main(void) { return HEED_VERSION_MAJOR; }
