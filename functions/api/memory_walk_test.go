package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/functions/api"
)

// TestEveryOperationGivesItsMemoryBack walks all operations of the served document, well and badly asked: none holds memory
// once it is answered, and those that answer with lists hold some before they have found anything.
func TestEveryOperationGivesItsMemoryBack(t *testing.T) {
	b := newBench(t, withSpool(t))
	running, lease := b.plant()
	b.plantLarge(5)
	doc, walked, lists := documentOf(t, b), 0, 0
	doc.each(func(method, path string, op *openOperation) {
		walked++
		m := &maker{bench: b, doc: doc, op: op, method: method, path: path, running: running, lease: lease}
		for _, body := range []string{m.body(), "{", strings.Repeat(" ", 300_000) + m.body()} {
			a := b.do(method, m.target("", ""), body)
			if held := b.api.HeldMemory(); held != 0 {
				t.Errorf("%s: %d bytes are held after %d", op.OperationID, held, a.status)
			}
		}
		for _, response := range op.Responses {
			for _, media := range response.Content {
				if s := doc.find(media.Schema); s != nil && s.Properties["next_cursor"] != nil {
					if lists++; !slices.Contains(api.AnswerHolds(), op.OperationID) {
						t.Errorf("%s answers with a list and holds nothing for it", op.OperationID)
					}
				}
			}
		}
	})
	if walked < 35 || lists < 7 {
		t.Errorf("%d operations, of which %d answer with lists", walked, lists)
	}
	t.Logf("%d operations, %d with lists", walked, lists)
}
