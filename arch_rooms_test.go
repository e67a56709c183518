package belfry_test

import "testing"

// maxPackageFiles is how many files a package may hold, tests left out. One that needs more holds several concepts: give each its own.
const maxPackageFiles = 25

// crowded are the packages that hold more, and how many each may hold at most. None may be added, and no number may rise.
var crowded = map[string]int{
	"adapters/postgres": 51,
	"adapters/sqlite":   56,
}

// A package is one concept, whose files a reader can take in at once.
func TestSizesOfPackages(t *testing.T) {
	files := map[string]int{}
	for _, file := range goFiles(t) {
		if !file.test {
			files[file.dir()]++
		}
	}
	for dir, n := range files {
		switch bound, known := crowded[dir]; {
		case !known && n > maxPackageFiles:
			t.Errorf("%s holds %d files, more than %d", dir, n, maxPackageFiles)
		case known && n > bound:
			t.Errorf("%s holds %d files, more than the %d that it held", dir, n, bound)
		case known && n < bound:
			t.Errorf("%s holds %d files by now: lower its bound, or take it off the list where it has %d or fewer", dir, n, maxPackageFiles)
		}
	}
	for dir := range crowded {
		if files[dir] == 0 {
			t.Errorf("%s is gone: take it off the list", dir)
		}
	}
}
