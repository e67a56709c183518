// Package share divides slots and credit among priorities, types and tenants. It is policy: it reads no clock and calls nobody.
//
// Where to look:
//
//	share.go  Shares: the free slots of a worker, claim by claim
//	plan.go   LanePlan: the credit of a scheduler's pass
//	lane.go   one priority and type, and how its tenants take turns
package share
