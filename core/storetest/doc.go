// Package storetest is the contract of core.Store, written as tests. Every adapter runs the whole of it:
//
//	func TestStore(t *testing.T) { storetest.Run(t, storetest.Harness{Open: openDatabase}) }
//
// A scenario is named "Method/sentence" and gets a database of its own. What an adapter cannot do it declares
// in its Harness or by what its Database answers; the scenario then says what it leaves out.
//
// Where to look:
//
//	harness.go    what an adapter gives: Harness, Database, Hold, Damage
//	run.go        the list of scenarios, and how they are run
//	stage.go      one scenario's database, and the acts that put jobs where a scenario wants them
//	table.go      every cell of the transition table
//	faulty.go     Faulty: a store whose answers get lost, for this suite and for tests of the engine
//	the others    one concept each, named for it
//
// Many scenarios are faults that users of other schedulers have reported.
package storetest
