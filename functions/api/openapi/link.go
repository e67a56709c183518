package openapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Link adds to each answer the calls that take a value of it: the job's id, the next page's cursor.
func Link(operations []*huma.Operation) {
	for _, op := range operations {
		for status, response := range op.Responses {
			if status >= "3" || response.Content["application/json"] == nil {
				continue
			}
			links := linksFrom(op, response.Content["application/json"].Schema, operations)
			if len(links) > 0 && response.Links == nil {
				response.Links = links
			}
		}
	}
}

// linksFrom are the calls that follow an answer of this schema.
func linksFrom(op *huma.Operation, answer *huma.Schema, operations []*huma.Operation) map[string]*huma.Link {
	links := map[string]*huma.Link{}
	for _, to := range operations {
		switch name := onlyPathParam(to); {
		case answer.Ref == "#/components/schemas/Job" && strings.HasPrefix(to.Path, "/v1/jobs/{id}"):
			links[to.OperationID] = &huma.Link{OperationID: to.OperationID, Parameters: map[string]any{"id": "$response.body#/id"}, Description: to.Summary + "."}
		case op.Method == http.MethodPut && name != "" && name == onlyPathParam(op) && strings.HasPrefix(to.Path, op.Path) && to != op:
			links[to.OperationID] = &huma.Link{OperationID: to.OperationID, Parameters: map[string]any{name: "$request.path." + name}, Description: to.Summary + "."}
		}
	}
	if op.Method == http.MethodGet && slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == "cursor" }) {
		links["next-page"] = &huma.Link{OperationID: op.OperationID, Parameters: map[string]any{"cursor": "$response.body#/next_cursor"}, Description: "The next page, with the same filters, unless next_cursor is empty."}
	}
	return links
}

// onlyPathParam is the name of the one parameter in an operation's path; "" where there is none or several.
func onlyPathParam(op *huma.Operation) string {
	if strings.Count(op.Path, "{") != 1 {
		return ""
	}
	_, rest, _ := strings.Cut(op.Path, "{")
	name, _, _ := strings.Cut(rest, "}")
	return name
}
