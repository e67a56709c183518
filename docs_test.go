package belfry_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	quotedPath = regexp.MustCompile("`([a-z][A-Za-z0-9_./-]*/[A-Za-z0-9_./-]*)`")
	linkTarget = regexp.MustCompile(`\]\(([^)\s#:]*)(#[^)\s]*)?\)`)
	fenced     = regexp.MustCompile("(?ms)^ *```.*?^ *```")
)

// The documents name files, folders and headings that exist.
func TestNamesOfFilesInDocumentsExist(t *testing.T) {
	texts := trackedTexts(t)
	for name, raw := range texts {
		if path.Ext(name) != ".md" {
			continue
		}
		text := fenced.ReplaceAllString(string(raw), "")
		for _, found := range quotedPath.FindAllStringSubmatch(text, -1) {
			if first, _, _ := strings.Cut(found[1], "/"); slices.Contains(topFolders, first) || first == "docs" {
				if !exists(found[1]) {
					t.Errorf("%s: there is no %s", name, found[1])
				}
			}
		}
		for _, found := range linkTarget.FindAllStringSubmatch(text, -1) {
			target, anchor := name, strings.TrimPrefix(found[2], "#")
			if found[1] != "" {
				target = path.Join(path.Dir(name), found[1])
			}
			if !exists(target) {
				t.Errorf("%s: the link %s leads nowhere", name, found[0])
			} else if anchor != "" && path.Ext(target) == ".md" && !slices.Contains(anchors(string(texts[target])), anchor) {
				t.Errorf("%s: %s has no heading #%s", name, target, anchor)
			}
		}
	}
}

// exists reports whether a file or folder is there. Placeholders, and what tools make in folders with a dot, are taken for there.
func exists(name string) bool {
	if strings.Contains(name, "/.") || strings.Contains(name, "NNN") || strings.Contains(name, "NAME") {
		return true
	}
	_, err := os.Stat(strings.TrimSuffix(name, "/"))
	return err == nil
}

// anchors are the names that GitHub gives to the headings of a document.
func anchors(text string) []string {
	var found []string
	for line := range strings.Lines(fenced.ReplaceAllString(text, "")) {
		heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		heading = regexp.MustCompile(`\]\([^)]*\)`).ReplaceAllString(heading, "]")
		heading = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`).ReplaceAllString(strings.ToLower(heading), "")
		found = append(found, strings.ReplaceAll(strings.TrimSpace(heading), " ", "-"))
	}
	return found
}
