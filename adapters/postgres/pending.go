package postgres

import (
	"context"

	"github.com/belfry-dev/belfry/core"
)
