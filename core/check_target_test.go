package core

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A URL that is no target's is told what is wrong with it.
func TestTargetURLSaysWhatIsWrong(t *testing.T) {
	for url, want := range map[string]string{
		"https://a.example/a b":       "a space as %20",
		"https://a.example/ü":         "percent-encode other characters",
		"https://a.example/\t":        "percent-encode other characters",
		"https://a.example/%":         "a percent sign as %25",
		"https://a.example/%2":        "a percent sign as %25",
		"https://a.example/100%zz":    "a percent sign as %25",
		"https://a.example/#%2g":      "a percent sign as %25",
		"https://%zz.example/":        "a percent sign as %25",
		"ftp://a.example/":            "must be an http or https URL",
		"https://u:p@a.example/":      "without a user or password",
		"":                            "must be an http or https URL",
		"https://a.example/%20?q=%zz": "", // a query may hold any text
		"https://a.example/%2F":       "",
	} {
		j := NewJob{Type: "a", Target: []byte(`{"url":` + strconv.Quote(url) + `}`)}
		var errs FieldErrors
		err := checkNewJob(&j, time.Now())
		if want == "" && err != nil || want != "" && (!errors.As(err, &errs) || len(errs) != 1 || errs[0].Field != "target.url" || !strings.Contains(errs[0].Rule, want)) {
			t.Errorf("%q: %v, want %q", url, err, want)
		}
	}
}
