package call

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/functions/api/openapi"
)

// Bounds on a page.
const (
	MaxPage     = 1000
	DefaultPage = 50
	StepPage    = 100     // jobs, schedules or types read at a time
	StepBytes   = 2 << 20 // and bytes of their payloads, results and targets, with the one that reaches it
)

// PageParams are the parameters of a page of jobs.
func PageParams() []*huma.Param {
	return []*huma.Param{
		openapi.Query("limit", "Jobs on a page.", openapi.WholeSchema(1, MaxPage, DefaultPage)),
		openapi.Query("cursor", "The next_cursor of the page before.", openapi.TextSchema(100)),
	}
}
