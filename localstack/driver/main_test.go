package main

import (
	"strings"
	"testing"
)

func TestOptionsThatLeadNowhere(t *testing.T) {
	for _, row := range []struct {
		o    options
		says string
	}{
		{options{concurrency: 2}, "BELFRY_DATABASE_URL is not set"},
		{options{database: "postgres://h/db"}, "-concurrency is 0"},
	} {
		if err := row.o.check(); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%+v: %v", row.o, err)
		}
	}
	if err := (options{database: "postgres://h/db", concurrency: 1}).check(); err != nil {
		t.Error(err)
	}
}
