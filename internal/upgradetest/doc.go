// Package upgradetest holds that the program of the version before works on the schema of this one: its own conformance
// suites, its API and its engine, run on databases that this program migrated.
//
// testdata/previous.tar.gz is the source of that program, what its stores, its server and their suites need of it. Freeze
// it anew when a version is released:
//
//	go run ./internal/upgradetest/freeze COMMIT
package upgradetest
