// Package testenv finds or starts the real servers tests need. Only tests and
// the conformance suites import it.
//
// A test asks for a server by name and gets an address. Where the server comes
// from, in this order: an address in the environment, a program on this
// machine, a container. Where none is to be had the test is skipped and says
// what it leaves out, unless BELFRY_TEST_REQUIRE names the server (a list
// separated by commas): then it fails.
package testenv
