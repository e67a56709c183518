package answer

import (
	"io"
	"net/http"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/memory"
)

// largeAnswer is from how many bytes on an answer waits on disk for its caller to take it.
const largeAnswer = 256 << 10

// What is held while an answer is found, beside what a body needs: a job with all that belongs to it, as it was read and as it
// is written; or what a page reads at a time, and the page. An answer that is there is held by its size.
const (
	JobHold  = 2 * (core.MaxPayloadBytes + 256<<10)
	stepHold = 2 << 20 // bytes of payloads that a page reads at a time, and one job more
)

// AnswerHolds are the operations whose answers may be large, and what they hold.
var AnswerHolds = map[string]int64{
	"list-jobs": pageHold, "list-dead-letters": pageHold, "list-dead-letter-groups": pageHold, "list-schedules": pageHold, "list-types": pageHold,
	"list-tokens": pageHold, "list-occurrences": pageHold, "list-alerts": pageHold, "get-job": JobHold, "get-schedule": JobHold,
}

// pageHold is that of a page of the default size.
const pageHold = stepHold + JobHold + DefaultPageBytes + JobHold/2

// HoldOf is what the request of an answer holds of the memory for requests.
func HoldOf(w http.ResponseWriter) *memory.Hold {
	if a, ok := w.(*Writer); ok {
		return &a.Hold
	}
	return &memory.Hold{}
}

// writeLarge sends a body whose caller may take it slowly, or not at all: what waits for him waits on disk. Where there is
// no disk it stays in memory, and is held there. The caller of writeLarge must not keep the body.
func (w *Writer) writeLarge(status int, body []byte) {
	counted := w.Hold.N >= int64(len(body)) // what was not, had better not wait
	w.Hold.Force(int64(len(body)))
	file, err := w.Spool.Open(w.Hold.Caller)
	if err == nil {
		defer file.Close()
		keep := func() error {
			if _, err := file.Write(body); err != nil {
				return err
			}
			return file.Rewind()
		}
		if counted {
			err = InTurn(w.Ctx, w, keep)
		} else {
			err = keep()
		}
	}
	w.WriteHeader(status)
	if err != nil || w.Head {
		_, _ = w.Write(body)
		return
	}
	w.Hold.Force(0)
	body = nil
	n, _ := io.Copy(w.ResponseWriter, file.File) // by the system, without memory of this process
	w.Bytes += n
}

// DefaultPageBytes is the size of a page.
const DefaultPageBytes = 4 << 20
