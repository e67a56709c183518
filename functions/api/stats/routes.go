package stats

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/openapi"
)

// Routes are the calls about the whole.
func (a *Calls) Routes(schemas huma.Registry) []call.Route {
	const tag = "Operation"
	health := openapi.SchemaOf[openapi.HealthDoc](schemas)
	metrics := openapi.Describe(schemas, tag, "metrics", http.MethodGet, "/metrics", "Metrics for Prometheus", "Right from any process: the store counts.")
	metrics.Responses["200"] = &huma.Response{Description: "Text format.", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}}}
	return []call.Route{
		{Op: openapi.Describe(schemas, tag, "stats", http.MethodGet, "/v1/stats", "Queue and job counts", "At most a second old.").
			Answers(http.StatusOK, "The numbers.", openapi.SchemaOf[Stats](schemas)).Refuses(http.StatusUnprocessableEntity), Handle: a.showStats, Extra: 0},
		{Op: metrics.Refuses(), Handle: a.metrics, Extra: 0},
		{Op: openapi.Describe(schemas, tag, "healthz", http.MethodGet, "/healthz", "Is the process alive?", "It answers; nothing else is looked at.").Answers(http.StatusOK, "Yes.", health).Refuses(), Handle: a.healthz, Extra: 0},
		{Op: openapi.Describe(schemas, tag, "readyz", http.MethodGet, "/readyz", "Can it accept jobs?", "The store is reachable, writable and of a known schema version.").
			Answers(http.StatusOK, "Yes.", health).Refuses(), Handle: a.readyz, Extra: 0},
	}
}
