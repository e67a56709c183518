package api

import (
	"context"
	"net/http"
	"runtime"
	"time"
)

// largeWork is from how many bytes on reading jobs, or keeping an answer for its caller, needs a turn.
const largeWork = 256 << 10

// newTurns is a budget of turns for work that takes a processor for a while, such as reading a page of large jobs. One caller
// has half of them. Without them a burst of such requests would keep the processors, and the database's, from all small ones.
func newTurns() *budget { return newBudget(int64(max(4, 2*runtime.GOMAXPROCS(0))), time.Hour) }

// inTurn does the work of an answer in a turn, which it waits for as long as ctx lets it.
func inTurn(ctx context.Context, w http.ResponseWriter, work func() error) error {
	var turn hold
	if a, ok := w.(*answer); ok {
		turn = hold{of: a.turns, caller: a.hold.caller}
	}
	if err := turn.set(ctx, 1); err != nil {
		return err
	}
	defer turn.release()
	return work()
}
