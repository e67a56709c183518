package pgserver

import (
	"fmt"
	"net/url"
	"strings"
)

// withDatabase returns dsn, in either of its two forms, with another database name.
func withDatabase(dsn, name string) (string, error) {
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		u, err := url.Parse(dsn)
		if err != nil {
			return "", fmt.Errorf("pgserver: dsn: %w", err)
		}
		u.Path = "/" + name
		return u.String(), nil
	}
	return dsn + " dbname=" + name, nil // the last of two settings of one key holds
}
