package answer

import (
	"context"
	"net/http"
	"runtime"
	"time"

	"github.com/belfry-dev/belfry/functions/api/memory"
)

// LargeWork is from how many bytes on reading jobs, or keeping an answer for its caller, needs a turn.
const LargeWork = 256 << 10

// NewTurns is a budget of turns for work that takes a processor for a while, such as reading a page of large jobs. One caller
// has half of them. Without them a burst of such requests would keep the processors, and the database's, from all small ones.
func NewTurns() *memory.Budget {
	return memory.NewBudget(int64(max(4, 2*runtime.GOMAXPROCS(0))), time.Hour)
}

// InTurn does the work of an answer in a turn, which it waits for as long as ctx lets it.
func InTurn(ctx context.Context, w http.ResponseWriter, work func() error) error {
	var turn memory.Hold
	if a, ok := w.(*Writer); ok {
		turn = memory.Hold{Of: a.Turns, Caller: a.Hold.Caller}
	}
	if err := turn.Set(ctx, 1); err != nil {
		return err
	}
	defer turn.Release()
	return work()
}
