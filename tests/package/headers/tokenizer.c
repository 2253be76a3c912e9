/* Nothing but the header, twice: it must stand alone in every language that it promises. */
#include "heed/tokenizer.h"

int main(void) { return HEED_VERSION_MAJOR; }
