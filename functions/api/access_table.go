package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/api/openapi"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// need is what an operation asks of its caller.
type need struct {
	role  core.Role
	scope scope
}

// scope says whose an operation's matter is.
type scope int

const (
	whole  scope = iota // the installation's: a tenant's token may not make the call, with any role
	tenant              // each tenant's own: a tenant's token makes it and finds its own only
	lease               // an attempt's: the lease token in the body is the right to it
	public              // everyone's: it tells nothing of jobs
)

// needs says for each operation who may call it. One that is missing here is refused to all but admins of the whole,
// and fails a test.
var needs = map[string]need{
	"submit-job":     {core.RoleSubmit, tenant},
	"submit-batch":   {core.RoleSubmit, tenant},
	"list-jobs":      {core.RoleRead, tenant},
	"get-job":        {core.RoleRead, tenant},
	"cancel-job":     {core.RoleSubmit, tenant},
	"retry-job":      {core.RoleSubmit, tenant},
	"reschedule-job": {core.RoleSubmit, tenant},

	"heartbeat-job": {scope: lease},
	"complete-job":  {scope: lease},
	"fail-job":      {scope: lease},

	"list-types":  {core.RoleRead, whole},
	"get-type":    {core.RoleRead, whole},
	"put-type":    {core.RoleAdmin, whole},
	"delete-type": {core.RoleAdmin, whole},

	"list-dead-letters":       {core.RoleRead, tenant},
	"list-dead-letter-groups": {core.RoleRead, tenant},
	"redrive-dead-letters":    {core.RoleAdmin, tenant},
	"discard-dead-letters":    {core.RoleAdmin, tenant},

	"create-token": {core.RoleAdmin, whole},
	"list-tokens":  {core.RoleAdmin, whole},
	"revoke-token": {core.RoleAdmin, whole},

	"list-schedules":    {core.RoleRead, tenant},
	"get-schedule":      {core.RoleRead, tenant},
	"put-schedule":      {core.RoleAdmin, tenant},
	"delete-schedule":   {core.RoleAdmin, tenant},
	"pause-schedule":    {core.RoleAdmin, tenant},
	"resume-schedule":   {core.RoleAdmin, tenant},
	"trigger-schedule":  {core.RoleSubmit, tenant},
	"backfill-schedule": {core.RoleAdmin, tenant},
	"list-occurrences":  {core.RoleRead, tenant},
	"next-occurrences":  {core.RoleRead, tenant},
	"preview-schedule":  {core.RoleRead, tenant},
	"plan-schedule":     {core.RoleAdmin, tenant}, // it compares secrets: asked often enough, it tells them
	"list-alerts":       {core.RoleRead, tenant},

	"stats":   {core.RoleRead, tenant},
	"metrics": {core.RoleRead, whole},
	"healthz": {scope: public},
	"readyz":  {scope: public},
}

// needOf is what an operation asks for.
func needOf(op *huma.Operation) need {
	n, listed := needs[op.OperationID]
	switch {
	case listed:
		return n
	case op.Hidden:
		return need{scope: public} // the document and its pages
	}
	return need{core.RoleAdmin, whole}
}

// judge refuses a caller that may not do what an operation does.
func (n need) judge(c access.Caller) error {
	switch {
	case n.scope == whole && c.Tenant != "":
		return problem.New(http.StatusForbidden, "this call needs a token for all tenants")
	case !c.Role.Allows(n.role):
		return problem.New(http.StatusForbidden, "this call needs the role "+string(n.role)+"; this token has the role "+string(c.Role))
	}
	return nil
}

// asks notes in the document what an operation needs.
func (a *API) asks(op *huma.Operation, schemas huma.Registry) {
	n := needOf(op)
	if n.scope == public {
		return
	}
	o := openapi.Operation{Operation: op, Schemas: schemas}
	o.Problem(http.StatusTooManyRequests)
	if n.scope == lease {
		return
	}
	o.Problem(http.StatusUnauthorized)
	o.Problem(http.StatusForbidden)
	op.Security = []map[string][]string{{"token": {}}}
	if a.Callers.Needless() {
		op.Security = append(op.Security, map[string][]string{}) // as long as there are no tokens
	}
	text := "Needs the role " + string(n.role)
	if n.scope == tenant {
		o.Problem(http.StatusNotFound) // what belongs to another tenant
	}
	if n.scope == whole {
		text += ", and a token that is for all tenants"
	}
	if op.Description != "" {
		text = " " + text
	}
	op.Description += text + "."
}
