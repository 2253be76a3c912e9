/* THE list of the methods of heed_explain, in the order in which they run and give their tensors.
 * method.h says how to add one. */
HEED_METHOD(ledger)
HEED_METHOD(lens)
HEED_METHOD(norms)
HEED_METHOD(pca)
HEED_METHOD(similarity)
HEED_METHOD(patch)
