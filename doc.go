// Package belfry holds the tests of the repository's own shape; see
// arch_test.go. The product is in the folders below: core is the engine,
// client and handler are what users import.
package belfry
