package api

import (
	"io"
	"net/http"

	"github.com/belfry-dev/belfry/core"
)

// largeAnswer is from how many bytes on an answer waits on disk for its caller to take it.
const largeAnswer = 256 << 10

// What is held while an answer is found, beside what a body needs: a job with all that belongs to it, as it was read and as it
// is written; or what a page reads at a time, and the page. An answer that is there is held by its size.
const (
	jobHold  = 2 * (core.MaxPayloadBytes + 256<<10)
	stepHold = 2 << 20 // bytes of payloads that a page reads at a time, and one job more
)

// answerHolds are the operations whose answers may be large, and what they hold.
var answerHolds = map[string]int64{
	"list-jobs": pageHold, "list-dead-letters": pageHold, "list-dead-letter-groups": pageHold, "list-schedules": pageHold, "list-types": pageHold,
	"list-tokens": pageHold, "list-occurrences": pageHold, "list-alerts": pageHold, "get-job": jobHold, "get-schedule": jobHold,
}

// pageHold is that of a page of the default size.
const pageHold = stepHold + jobHold + defaultPageBytes + jobHold/2

// holdOf is what the request of an answer holds of the memory for requests.
func holdOf(w http.ResponseWriter) *hold {
	if a, ok := w.(*answer); ok {
		return &a.hold
	}
	return &hold{}
}

// writeLarge sends a body whose caller may take it slowly, or not at all: what waits for him waits on disk. Where there is
// no disk it stays in memory, and is held there. The caller of writeLarge must not keep the body.
func (w *answer) writeLarge(status int, body []byte) {
	counted := w.hold.n >= int64(len(body)) // what was not, had better not wait
	w.hold.force(int64(len(body)))
	file, err := w.spool.open(w.hold.caller)
	if err == nil {
		defer file.close()
		keep := func() error {
			if _, err := file.Write(body); err != nil {
				return err
			}
			return file.rewind()
		}
		if counted {
			err = inTurn(w.ctx, w, keep)
		} else {
			err = keep()
		}
	}
	w.WriteHeader(status)
	if err != nil || w.head {
		_, _ = w.Write(body)
		return
	}
	w.hold.force(0)
	body = nil
	n, _ := io.Copy(w.ResponseWriter, file.file) // by the system, without memory of this process
	w.bytes += n
}
