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

// requestMemory is the default of BELFRY_REQUEST_MEMORY for a process that has so many MiB of memory.
func requestMemory(usual, own int) int {
	return min(usual, max(own-besideRequest, leastRequests))
}

// ownMemory is how many MiB of memory this process has: what its container, its function or its machine has, whichever is
// least. lambda is what AWS Lambda says of the function, in MiB.
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
