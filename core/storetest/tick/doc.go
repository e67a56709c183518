// Package tick holds the contract of stores about the scheduler's pass: bucket leases, dispatch, lost attempts, upkeep.
package tick
