// Package storetest is the contract of core.Store, written as tests. Every adapter runs the whole of it:
//
//	func TestStore(t *testing.T) { suite.Run(t, storetest.Harness{Open: openDatabase}) }
//
// A scenario is named "Method/sentence" and gets a database of its own. An adapter declares what it cannot do in its Harness
// or through its Database; the scenario then says what it skips.
//
// Where to look:
//
//	harness.go            the adapter's part: Harness, Database, Hold, Damage; break.go: Breaker
//	stage.go              Stage: one scenario's database
//	acts.go, acts_*.go    calls that bring jobs, types and schedules into a state
//	look.go               reads for the checks of a scenario
//	faulty.go             Faulty: a store whose answers get lost, for this suite and for tests of the engine
//	suite                 the list of scenarios, and how they are run
//	submit, work, tick, schedule, operate, damage   the scenarios, by what they are about
//
// Many scenarios repeat bugs that users of other schedulers have reported.
package storetest
