// Package storetest is the contract of core.Store, written as tests. Every adapter runs the whole of it:
//
//	func TestStore(t *testing.T) { suite.Run(t, storetest.Harness{Open: openDatabase}) }
//
// A scenario is named "Method/sentence" and gets a database of its own. What an adapter cannot do it declares
// in its Harness or by what its Database answers; the scenario then says what it leaves out.
//
// Where to look:
//
//	harness.go            what an adapter gives: Harness, Database, Hold, Damage; break.go: Breaker
//	stage.go              Stage: one scenario's database
//	acts.go, acts_*.go    acts that put jobs, types and schedules where a scenario wants them
//	look.go               what a scenario looks at
//	faulty.go             Faulty: a store whose answers get lost, for this suite and for tests of the engine
//	suite                 the list of scenarios, and how they are run
//	submit, work, tick, schedule, operate, damage   the scenarios, by what they are about
//
// Many scenarios are faults that users of other schedulers have reported.
package storetest
