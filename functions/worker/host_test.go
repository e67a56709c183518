package worker

import (
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
)

// A queue that comes back soon is nobody's concern; one that stays away is why the container is replaced.
func TestHealthOfAHostIsThatOfItsQueues(t *testing.T) {
	l := &losses{since: map[core.Priority]time.Time{}}
	soon, late := time.Now().Add(lostFor/2), time.Now().Add(2*lostFor)
	l.note(core.WorkEvent{Kind: core.QueueLost, Priority: core.Bulk})
	l.note(core.WorkEvent{Kind: core.StoreLost})
	if err := l.tell(soon); err != nil {
		t.Errorf("soon: %v", err)
	}
	if err := l.tell(late); err == nil || !strings.Contains(err.Error(), "bulk") {
		t.Errorf("late: %v", err)
	}
	l.note(core.WorkEvent{Kind: core.QueueBack, Priority: core.Bulk})
	if err := l.tell(late); err != nil {
		t.Errorf("back: %v", err)
	}
}

func TestVisibilityIsTheLease(t *testing.T) {
	for lease, want := range map[time.Duration]time.Duration{
		300 * time.Millisecond: time.Second, time.Minute: time.Minute, 90*time.Second + 1: 91 * time.Second, 10 * time.Minute: 10 * time.Minute, 11 * time.Minute: 0,
	} {
		got, err := Visibility(boot.Settings{Lease: lease}, 10*time.Minute)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("%s: %s, %v", lease, got, err)
		}
	}
}
