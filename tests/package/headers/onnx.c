/* Nothing but the header, twice: it must stand alone in every language that it promises. */
#include "heed/onnx.h"

int main(void) { return HEED_VERSION_MAJOR; }
