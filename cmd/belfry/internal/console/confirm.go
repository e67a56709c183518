package console

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Sure asks before something that cannot be undone. question says what and how many. Where nobody can answer, --yes
// must have been given.
func (a *App) Sure(yes bool, question string) error {
	if yes {
		return nil
	}
	if !a.Asks {
		return Usage("%s; --yes does it, --dry-run only counts", question)
	}
	fmt.Fprintf(a.Errs, "%s. Go on? [y/N] ", Clean(question))
	answer, err := bufio.NewReader(a.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was done")
}
