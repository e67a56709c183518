// Package enginetest tests the engine as a whole: ticker, workers and submitters of core over a real store and
// real topics, mostly in a bubble of testing/synctest, where hours pass in no time and the store's clock is the
// bubble's.
package enginetest
