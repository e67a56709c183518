package boot

import (
	"math"
	"strconv"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	leastRequests = 32  // MiB: the least of BELFRY_REQUEST_MEMORY
	besideRequest = 100 // MiB that a process needs beside its requests
)

// requestMemory returns the default of BELFRY_REQUEST_MEMORY for a process with this many MiB of memory.
func requestMemory(usual, own int) int {
	return min(usual, max(own-besideRequest, leastRequests))
}

// ownMemory returns the MiB of memory that this process has: the least of its container's, its function's and its machine's.
// lambda is the function's memory as AWS Lambda gives it, in MiB.
func ownMemory(lambda string) int {
	least := math.MaxInt
	if n, err := strconv.Atoi(lambda); err == nil && n > 0 {
		least = n
	}
	for _, of := range []func() (uint64, error){memlimit.FromCgroup, memlimit.FromSystem} {
		if n, err := of(); err == nil && n > 0 {
			least = int(min(n>>20, uint64(least)))
		}
	}
	return least
}
