package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Announce announces a new worker that handles the types.
func (s *Stage) Announce(types ...string) {
	s.Helper()
	s.Must(s.Store.Announce(s.Ctx, Worker(types...)))
}

// Worker returns a worker that receives from queues and handles the types.
func Worker(types ...string) core.Presence {
	types = slices.Sorted(slices.Values(types))
	return core.Presence{ID: "worker of " + strings.Join(types, " "), Queues: true, Types: types, SlotUse: core.SlotUse{Slots: 10, Busy: 7, DeliverySlots: 5, Deliveries: 3}}
}

func (s *Stage) PutType(t core.JobType) (kept core.JobType, made bool) {
	s.Helper()
	kept, made, err := s.Store.PutType(s.Ctx, t)
	s.Must(err)
	return kept, made
}

// AType returns a definition with every field set.
func AType(name string) core.JobType {
	return core.JobType{Name: name, Target: []byte(ATarget), Timeout: 90*time.Second + time.Microsecond, MaxAttempts: 7,
		Backoff: []time.Duration{0, time.Second, 720 * time.Hour}, ExpiresAfter: 2*time.Hour + time.Microsecond, ExpectWithin: 9600 * time.Hour}
}

// ManyNames returns n names other than "a" and "b".
func ManyNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("many-%05d", i)
	}
	return names
}

const ATarget = `{"url":"https://example.com/a?b=%20", "headers": {"x-a": "\u00e9 1e5"}}`
