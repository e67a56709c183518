package belfry_test

import (
	"bytes"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// registryHosts are hosts of package registries: which one a machine asks is its own affair. The expressions do not
// match themselves.
var registryHosts = []*regexp.Regexp{
	regexp.MustCompile(`\b(proxy\.golang|registry\.npmjs|registry\.yarnpkg|pypi|index\.crates|static\.crates|deb\.debian)\.(org|com|io)\b`),
	regexp.MustCompile(`\brepo1?\.maven\.`),
}

// sharedFolders are at the root of any Unix system, so that a text may name them.
var sharedFolders = []string{"bin", "dev", "etc", "home", "lib", "opt", "private", "proc", "run", "srv", "sys", "tmp", "usr", "Users", "var"}

// machinePaths matches paths of the machine that runs the tests: below its home folder, below the checkout, and below
// the checkout's folder at the root unless every system has that one. They mean nothing to a reader elsewhere.
func machinePaths(home, checkout string) *regexp.Regexp {
	folders := []string{checkout}
	if home != "" {
		folders = append(folders, home)
	}
	if top, _, below := strings.Cut(strings.TrimPrefix(checkout, "/"), "/"); below && !slices.Contains(sharedFolders, top) {
		folders = append(folders, "/"+top)
	}
	for i, folder := range folders {
		folders[i] = regexp.QuoteMeta(strings.TrimSuffix(folder, "/"))
	}
	return regexp.MustCompile(`(?m)(^|[^A-Za-z0-9_.$}/])(` + strings.Join(folders, "|") + `)/[A-Za-z0-9._]`)
}

func TestTrackedTextsNameNoMachine(t *testing.T) {
	checkout, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	home, _ := os.UserHomeDir() // none in some containers
	foreign := append(slices.Clone(registryHosts), machinePaths(filepath.ToSlash(home), filepath.ToSlash(checkout)))
	for name, text := range trackedTexts(t) {
		for _, expression := range foreign {
			if at := expression.FindIndex(text); at != nil {
				line := bytes.Count(text[:at[1]], []byte("\n")) + 1
				t.Errorf("%s:%d: %q", name, line, bytes.TrimSpace(text[at[0]:at[1]]))
			}
		}
	}
}

// The expression itself: the folders come from the machine, so that this file names none.
func TestMachinePathsAreFound(t *testing.T) {
	for _, c := range []struct {
		home, checkout, text string
		found                bool
	}{
		{"/home/ann", "/srv/belfry", "see /home/ann/notes.md", true},
		{"/home/ann", "/srv/belfry", "see /home/bob/notes.md", false},
		{"/home/ann", "/srv/belfry", "cd /srv/belfry/core", true},
		{"/home/ann", "/builds/belfry", "cd /builds/other", true},
		{"", "/builds/belfry", "https://example.com/builds/other", false},
		{"", "/builds", "GET /builds/7", true},
		{"", "/tmp/belfry", "/tmp/x", false},
	} {
		if found := machinePaths(c.home, c.checkout).MatchString(c.text); found != c.found {
			t.Errorf("home %q, checkout %q: %q: found %v, want %v", c.home, c.checkout, c.text, found, c.found)
		}
	}
}

// caseCode is the number of an entry in a list that readers do not have: a letter and two digits, alone, or at the
// head of a test's name. Say what the case is instead.
var caseCode = regexp.MustCompile(`\b[A-Z][0-9]{2}(?:\b|_)|\bTest[A-Z][0-9]{2}[A-Z_]`)

// noCaseCodes are terms of the field that look like one.
var noCaseCodes = regexp.MustCompile(`\bP[0-9]{2}\b` + // a percentile
	`|\bX86_64\b` + // an architecture
	`|T[0-9]{2}:` + // the time of day in a timestamp
	`|-W[0-9]{2}-` + // a week of ISO 8601
	`|,[JM][0-9]{1,3}\b|[^0-9a-z]M[0-9]{1,2}\.[0-9]`) // a date in a POSIX time zone

// proseFiles are the files whose text people read: Go code, documents, SQL, deployments, scripts.
var proseFiles = []string{".go", ".md", ".sql", ".tf", ".hcl", ".sh", ".yaml", ".yml", ".py", ".mjs", ".ts"}

func TestTrackedTextsHoldNoCaseCodes(t *testing.T) {
	for name, text := range trackedTexts(t) {
		if !slices.Contains(proseFiles, path.Ext(name)) || name == "arch_words_test.go" {
			continue
		}
		for number, line := range bytes.Split(text, []byte("\n")) {
			if code := caseCode.Find(noCaseCodes.ReplaceAll(line, nil)); code != nil {
				t.Errorf("%s:%d: %q numbers a case of a list that readers do not have: say what the case is", name, number+1, code)
			}
		}
	}
}

// The rule itself: one that finds nothing would pass on every tree.
func TestCaseCodesAreFound(t *testing.T) {
	for text, code := range map[string]bool{
		"// Case H10: nothing logs a payload.":    true,
		"Submit/D01 64 submits of one key":        true,
		"D01_64_submits_of_one_key":               true,
		"func TestB21LostWorkerCounts(":           true,
		"is refused whole (H02).":                 true,
		"LAG P50  LAG P99":                        false,
		`"2026-03-01T12:30:00Z", "2030-W09-5"`:    false,
		"SQLSTATE 22023, P0001, XX001, 3D000":     false,
		`"CET-1CEST,M3.5.0,J60,M13.5.0", X86_64`:  false,
		"UTF-8, HTTP 503, go1.26, U+00E9, SHA256": false,
	} {
		if found := caseCode.MatchString(noCaseCodes.ReplaceAllString(text, "")); found != code {
			t.Errorf("%q: found %v, want %v", text, found, code)
		}
	}
}

// A bound is named max…, and never most…: one word for one idea.
func TestNamesOfBoundsBeginWithMax(t *testing.T) {
	for _, file := range goFiles(t) {
		ast.Inspect(file.ast, func(node ast.Node) bool {
			if name, ok := node.(*ast.Ident); ok && boundCalledMost.MatchString(name.Name) {
				t.Errorf("%s: %s: name the bound max…", file.line(name.Pos()), name.Name)
			}
			return true
		})
	}
}

var boundCalledMost = regexp.MustCompile(`^[mM]ost[A-Z]`)
