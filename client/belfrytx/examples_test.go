package belfrytx_test

import (
	"io"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
)

// The examples need a database, so they run here.
func TestExamples(t *testing.T) {
	_, address := openStore(t)
	if _, err := connect(t, address, pgx.QueryExecModeExec).Exec(t.Context(), "CREATE TABLE orders (id bigint PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BELFRY_DATABASE_URL", address)
	for name, c := range map[string]struct {
		run  func()
		want string
	}{
		"SubmitTx":      {ExampleSubmitTx, "<nil>\n"},
		"SubmitBatchTx": {ExampleSubmitBatchTx, "2 true\n<nil>\n"},
	} {
		if got := printed(t, c.run); got != c.want {
			t.Errorf("%s prints %q, want %q", name, got, c.want)
		}
	}
}

// printed returns what run writes to standard output. It must fit into a pipe.
func printed(t *testing.T, run func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stdout
	os.Stdout = w
	run()
	os.Stdout = before
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
