package jobs

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/api/openapi"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// KeyHeader makes a repeated submit get the first one's answer.
const KeyHeader = "Idempotency-Key"

// idempotencyKey reads the header of a call that asks for what is in body; nil where there is none.
func (a *Calls) idempotencyKey(r *http.Request, body []byte) (*core.IdempotencyKey, error) {
	values := r.Header.Values(KeyHeader)
	switch {
	case len(values) == 0:
		return nil, nil
	case len(values) > 1:
		return nil, problem.Field(http.StatusUnprocessableEntity, KeyHeader, "is given twice")
	case !core.ValidIdempotencyKey(values[0]):
		return nil, problem.Field(http.StatusUnprocessableEntity, KeyHeader, "must be 1 to 255 visible ASCII characters")
	}
	asked := sha256.New()
	asked.Write([]byte(r.URL.Path + "\n"))
	asked.Write(body)
	key := &core.IdempotencyKey{Holder: access.CallerOf(r.Context()).ID, Key: values[0], Keep: a.KeepKeys}
	asked.Sum(key.Hash[:0])
	return key, nil
}

// errNothingWritten ends a call under a key that has nothing to write: its answer is not kept.
var errNothingWritten = errors.New("nothing is written")

// answerOnce answers a call under a key.
func (a *Calls) answerOnce(w http.ResponseWriter, r *http.Request, once core.Once, err error) error {
	switch {
	case errors.Is(err, core.ErrKeyReused):
		return problem.Field(http.StatusUnprocessableEntity, KeyHeader, "was used for another request; each request needs a key of its own")
	case errors.Is(err, core.ErrKeyInFlight):
		p := problem.New(http.StatusConflict, "a call with this Idempotency-Key is under way; try again").With("Retry-After", "1")
		p.Reason = "the idempotency key is in flight"
		return p
	case err != nil:
		return err
	}
	a.pokeNew(once.Jobs)
	if once.Replayed {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	writeAnswer(w, r, once.Answer)
	return nil
}

// keyed notes in the document that an operation takes the header.
func keyed(o openapi.Operation) openapi.Operation {
	least, most := 1, core.MaxIdempotencyKeyBytes
	o.Parameters = append(o.Parameters, &huma.Param{
		Name: KeyHeader, In: "header", Example: "order-1042-mail",
		Description: "Of your choice, for this request. Sent again with the same key and body, by the same token, it is answered as the first time and submits nothing more. Kept for 24 hours, or as the server is set.",
		Schema:      &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most, Pattern: "^[!-~]+$"},
	})
	for status, response := range o.Responses {
		if status < "3" {
			if response.Headers == nil {
				response.Headers = map[string]*huma.Param{}
			}
			response.Headers["Idempotency-Replayed"] = openapi.Header("true: this is the answer of an earlier call with the same Idempotency-Key.", huma.TypeString)
		}
	}
	conflict := keyProblem(o, http.StatusConflict)
	conflict.Description = "A call with the same Idempotency-Key is under way."
	conflict.Headers = map[string]*huma.Param{"Retry-After": openapi.Header("Seconds after which trying again makes sense.", huma.TypeInteger)}
	return o
}

// keyProblem is the answer of a problem, for saying more of it.
func keyProblem(o openapi.Operation, status int) *huma.Response {
	o.Problem(status)
	return o.Responses[strconv.Itoa(status)]
}
