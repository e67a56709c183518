package api_test

import (
	"net/http"
	"testing"

	"github.com/belfry-dev/belfry/functions/api"
)

func checkAnswer(t *testing.T, a *api.API, r *http.Request, got answer) {}
