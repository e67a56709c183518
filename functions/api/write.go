package api

import (
	"net/http"
	"strconv"

	"github.com/belfry-dev/belfry/functions/api/problem"
)

// writeProblem sends the document.
func writeProblem(p *problem.Problem, w http.ResponseWriter) {
	for name, values := range p.Headers() {
		w.Header()[name] = values
	}
	writeBody(w, p.Status, "application/problem+json", p.Encode())
}

// writeBody sends an answer. An error means that the client is gone: nobody is left to tell.
func writeBody(w http.ResponseWriter, status int, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if a, ok := w.(*answer); ok {
		if len(body) > largeAnswer {
			a.writeLarge(status, body)
			return
		}
		a.hold.force(int64(len(body))) // all else of the request is done with
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // JSON, sent as JSON with nosniff
}

// writeJSON sends a document.
func writeJSON(w http.ResponseWriter, status int, body []byte) {
	writeBody(w, status, "application/json", body)
}
