package scheduletest

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// progress tells on stderr how a long test is getting on: t.Log is seen only at its end. Ordinary runs are silent.
type progress struct {
	name  string
	began time.Time
	next  time.Time
}

const progressEvery = 30 * time.Second

func newProgress(t *testing.T) *progress {
	now := time.Now()
	return &progress{name: t.Name(), began: now, next: now.Add(progressEvery)}
}

// tell writes a line where the last one was a while ago.
func (p *progress) tell(format string, args ...any) {
	if now := time.Now(); large() && !now.Before(p.next) {
		p.next = now.Add(progressEvery)
		fmt.Fprintf(os.Stderr, "%s after %s: %s\n", p.name, now.Sub(p.began).Round(time.Second), fmt.Sprintf(format, args...))
	}
}
