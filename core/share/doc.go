// Package share divides slots and credit among priorities, types and tenants. It is pure policy: it reads no clock and makes
// no calls.
//
// Where to look:
//
//	share.go  Shares: divides the free slots of a worker, claim by claim
//	plan.go   LanePlan: divides the credit of a scheduler's pass
//	lane.go   one lane (priority and type), and how its tenants take turns
package share
