package api

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/call"
)

// indexes are where people look who know no more than the address. What they answer leads on by relative links, so that they
// work below a prefix.
func (a *API) indexes() []call.Route {
	at := func(path, up string, show func(http.ResponseWriter, *http.Request, string) error) call.Route {
		return call.Route{Op: &huma.Operation{Method: http.MethodGet, Path: path, Hidden: true}, Handle: func(w http.ResponseWriter, r *http.Request) error {
			return show(w, r, up)
		}}
	}
	return []call.Route{at("/{$}", "", a.showIndex), at("/v1", "", a.showIndex), at("/v1/{$}", "../", a.showIndex), at("/docs/{$}", "../", seeDocs)}
}

// indexDoc says where everything is, seen from where it is answered.
type indexDoc struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Docs    string `json:"docs"`
	OpenAPI string `json:"openapi"`
	Jobs    string `json:"jobs"`
	Health  string `json:"health"`
	Ready   string `json:"ready"`
	Metrics string `json:"metrics"`
}

// showIndex leads a browser to the docs, and says to others where everything is.
func (a *API) showIndex(w http.ResponseWriter, r *http.Request, up string) error {
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		return seeDocs(w, r, up)
	}
	body, err := json.Marshal(indexDoc{
		Name: "Belfry", Version: a.Version, Docs: up + "docs", OpenAPI: up + "openapi.json", Jobs: up + "v1/jobs",
		Health: up + "healthz", Ready: up + "readyz", Metrics: up + "metrics",
	})
	if err != nil {
		return err
	}
	answer.JSON(w, http.StatusOK, body)
	return nil
}

func seeDocs(w http.ResponseWriter, r *http.Request, up string) error {
	if prefix := call.PrefixOf(r); prefix != "" {
		up = prefix + "/"
	}
	w.Header().Set("Location", up+"docs")
	w.Header().Set("Cache-Control", "no-cache")
	answer.Body(w, http.StatusSeeOther, "text/plain; charset=utf-8", []byte("see "+up+"docs\n"))
	return nil
}
