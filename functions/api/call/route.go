package call

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Route is one operation and what answers it. An error becomes the answer's problem document.
type Route struct {
	Op     *huma.Operation
	Handle func(w http.ResponseWriter, r *http.Request) error
	Extra  time.Duration // beyond Limits.Time: for a body to arrive, or to wait
}
