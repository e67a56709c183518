package answer

import (
	"net/http"
	"strconv"

	"github.com/belfry-dev/belfry/functions/api/problem"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// Problem sends the document.
func Problem(p *problem.Problem, w http.ResponseWriter) {
	for name, values := range p.Headers() {
		w.Header()[name] = values
	}
	Body(w, p.Status, "application/problem+json", p.Encode())
}

// Body sends an answer. An error means that the client is gone: nobody is left to tell.
func Body(w http.ResponseWriter, status int, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if a, ok := w.(*Writer); ok {
		if len(body) > largeAnswer {
			a.writeLarge(status, body)
			return
		}
		a.Hold.Force(int64(len(body))) // all else of the request is done with
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// JSON sends a document.
func JSON(w http.ResponseWriter, status int, body []byte) {
	Body(w, status, "application/json", body)
}

// Page answers with one page of a list whose items are all at hand.
func Page[T any](w http.ResponseWriter, items []T, next string, one func(b []byte, item *T) []byte) {
	b := []byte(`{"items":[`)
	for i := range items {
		b = one(show.Comma(b, i), &items[i])
	}
	b = append(b, `],"next_cursor":`...)
	JSON(w, http.StatusOK, append(strconv.AppendQuote(b, next), '}'))
}
