package system

import (
	"context"
	"errors"
)

func openBelfry(context.Context, string, Settings) (System, error) {
	return nil, errors.New("belfry: not wired yet")
}
